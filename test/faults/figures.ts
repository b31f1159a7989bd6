import { existsSync, readFileSync } from 'node:fs';

export const FIGURES_FILE = 'test/faults/figures.json';

/** Why the one test is skipped that asks another machine, which says nothing about this one. */
export const UNANSWERED = 'the registry did not answer "npm audit"';

/** What the tests last showed when each fault was injected as often as promised. */
export interface Figures {
  /** When, and on what. */
  shown: string;
  /** By the file of the tests. */
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

/** Tells what a test has shown, in a few words with numbers, such as "200 kills: 4,310 posts, each there once". */
export function show(task: { readonly meta: { figures?: string[] } }, figure: string): void {
  (task.meta.figures ??= []).push(figure);
}

/** Undefined until a whole run was kept. */
export function readFigures(): Figures | undefined {
  return existsSync(FIGURES_FILE)
    ? (JSON.parse(readFileSync(FIGURES_FILE, 'utf8')) as Figures)
    : undefined;
}
