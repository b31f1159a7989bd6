/** A numbered rule of docs/reliability.md, in Markdown. */
export interface Rule {
  /** Understandable to a reader who knows OAuth 2.0 and HTTP but not this service. */
  rule: string;
  /** The standard and section that require it, or `own`. */
  source: string;
}

/** Rules of one topic by number: `O1`, `O2` and so on, or `C1`, `C2` and so on. */
export interface Topic {
  title: string;
  rules: Readonly<Record<string, Rule>>;
}
