import { existsSync, readFileSync } from 'node:fs';

export const FIGURES_FILE = 'test/faults/figures.json';

/** Reason to skip the only test that needs the npm registry. */
export const REGISTRY_UNAVAILABLE = 'the registry did not respond to "npm audit"';

/** Results of the last whole run. */
export interface Figures {
  /** Date, machine and versions, as docs/reliability.md shows them. */
  measured: string;
  /** Results by spec file. */
  files: Record<string, Pick<Outcome, 'passed' | 'figures'>>;
}

/** Results of a test file, or of all test files in a folder. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** Texts of `reportFigure`. */
  figures: string[];
}

declare module 'vitest' {
  interface TaskMeta {
    figures?: string[];
  }
}

/** Records a measured result of a test for docs/reliability.md, such as "200 kills: 4,310 posts, each stored once". */
export function reportFigure(
  task: { readonly meta: { figures?: string[] } },
  figure: string,
): void {
  (task.meta.figures ??= []).push(figure);
}

/** Undefined if no whole run was recorded. */
export function readFigures(): Figures | undefined {
  return existsSync(FIGURES_FILE)
    ? (JSON.parse(readFileSync(FIGURES_FILE, 'utf8')) as Figures)
    : undefined;
}
