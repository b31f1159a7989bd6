/** How many answers were held against the document, by `operation status`; those of no operation by `-`. */
export type AnswerCounts = Record<string, number>;

declare module 'vitest' {
  interface TaskMeta {
    answers?: AnswerCounts;
  }
}

/** The key of answers that belong to no operation of the document: pages, documentation, unknown paths and methods. */
export const UNDOCUMENTED = '-';

/** Adds up what several tests, files or workers counted. */
export function addCounts(total: AnswerCounts, counts: AnswerCounts = {}): AnswerCounts {
  for (const [key, count] of Object.entries(counts)) total[key] = (total[key] ?? 0) + count;
  return total;
}
