/** A number of calls per window, and what is left of it. */
export interface RateLimit {
  /** Name of the policy, in visible ASCII without quotes. */
  policy: string;
  quota: number;
  windowSeconds: number;
  remaining: number;
  /** Until `remaining` is `quota` again. */
  resetSeconds: number;
}

/** What a caller is told of it, as structured fields (RFC 9651) of the draft "RateLimit header fields for HTTP" of the IETF. */
export function rateLimitHeaders(limit: RateLimit): Record<string, string> {
  const { policy, quota, windowSeconds, remaining, resetSeconds } = limit;
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${windowSeconds}`,
    RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}

/** The same for the published document. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description:
      "The app's quota: q posts in a window of w seconds, the calendar month (UTC). Missing when the app's posts are unlimited.",
    schema: { type: 'string' as const, pattern: '^"posts-month";q=\\d+;w=\\d+$' },
    example: '"posts-month";q=100;w=2592000',
  },
  RateLimit: {
    description: 'What is left of it: r posts, for t seconds until the month ends.',
    schema: { type: 'string' as const, pattern: '^"posts-month";r=\\d+;t=\\d+$' },
    example: '"posts-month";r=87;t=826200',
  },
};
