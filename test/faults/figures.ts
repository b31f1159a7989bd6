import { existsSync, readFileSync } from 'node:fs';

export const FIGURES_FILE = 'test/faults/figures.json';

/** Reason to skip the one test that needs the registry. */
export const UNANSWERED = 'the registry did not answer "npm audit"';

/** Results of the last whole run. */
export interface Figures {
  /** Date, machine and versions. */
  shown: string;
  /** Results by spec file. */
  files: Record<string, Pick<Outcome, 'passed' | 'figures'>>;
}

export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  figures: string[];
}

declare module 'vitest' {
  interface TaskMeta {
    figures?: string[];
  }
}

/** Records a result of a test in a few words with numbers, such as "200 kills: 4,310 posts, each stored once". */
export function show(task: { readonly meta: { figures?: string[] } }, figure: string): void {
  (task.meta.figures ??= []).push(figure);
}

/** Undefined until a whole run was recorded. */
export function readFigures(): Figures | undefined {
  return existsSync(FIGURES_FILE)
    ? (JSON.parse(readFileSync(FIGURES_FILE, 'utf8')) as Figures)
    : undefined;
}
