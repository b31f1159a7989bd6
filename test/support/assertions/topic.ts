/** A numbered rule of the authorization server, as the page of its promises tells it (Markdown). */
export interface Rule {
  /** All of the rule, for somebody who knows OAuth 2.0 and has not seen this server. */
  rule: string;
  /** The standard and section that it comes from, or `own` where it is ours. */
  source: string;
}

/** Rules that belong together, by their numbers: `O1`, `O2` and so on. */
export interface Topic {
  title: string;
  rules: Readonly<Record<string, Rule>>;
}
