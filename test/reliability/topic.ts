/** A numbered rule of the platform, as the page of its promises tells it (Markdown). */
export interface Rule {
  /** All of the rule, for somebody who knows OAuth 2.0 and HTTP and has not seen this platform. */
  rule: string;
  /** The standard and section that it comes from, or `own` where it is ours. */
  source: string;
}

/** Rules that belong together, by their numbers: `O1`, `O2` and so on, or `C1`, `C2` and so on. */
export interface Topic {
  title: string;
  rules: Readonly<Record<string, Rule>>;
}
