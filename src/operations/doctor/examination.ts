import type { Change } from '../../audit/audit-log.repository.js';
import { startProblem } from '../start-problem.js';
import { failed, type Check, type Finding } from './check.js';

/** A finding with the name of its check. */
export interface NamedFinding extends Finding {
  check: string;
}

export interface Manner {
  /** Sets wrong counters right, in whose name and why. */
  repair?: Change;
  /** Told the name of each check before it runs. */
  onCheck?: (name: string) => void;
}

/** Runs the checks one after the other. */
export async function examine(
  checks: readonly Check[],
  { repair, onCheck }: Manner,
): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = [];
  for (const check of checks) {
    onCheck?.(check.name);
    const found = await check.run(repair).catch((error: unknown) => [failed(sentenceOf(error))]);
    findings.push(...found.map((finding) => ({ check: check.name, ...finding })));
  }
  return findings;
}

/** Why something failed, without a stack. */
export function sentenceOf(error: unknown): string {
  return startProblem(error)
    .split(/\n\s+at /, 1)
    .join('');
}
