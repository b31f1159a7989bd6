/** The percentages of a limit that operators are told of, highest first. */
export const THRESHOLDS: readonly number[] = [100, 90, 75];

/** With how many posts a threshold of `limit` is reached. Nothing used is nothing to tell, and no limit is never reached. */
export function postsAt(threshold: number, limit: number | null): number {
  if (limit === null) return Number.MAX_SAFE_INTEGER;
  return Math.max(1, Math.ceil((limit * threshold) / 100));
}

/** The highest threshold that is reached, or 0. */
export function thresholdReached(used: number, limit: number | null): number {
  return THRESHOLDS.find((threshold) => used >= postsAt(threshold, limit)) ?? 0;
}
