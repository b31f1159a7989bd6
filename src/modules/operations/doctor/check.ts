import type { Change } from '../../../platform/audit/audit-log.repository.js';
import { startProblem } from '../../../platform/lifecycle/start-problem.js';

/** What a check found: one sentence, and where something is to be done a command to paste, or else a sentence. */
export interface Finding {
  status: 'ok' | 'warning' | 'failed';
  summary: string;
  remedy?: string;
}

/** Looks at one thing of the installation, and writes nothing. */
export interface Check {
  readonly name: string;
  /**
   * What it throws is a finding, too.
   * @param repair given when wrong counters are to be set right: who does, and why
   */
  run(repair?: Change): Promise<Finding[]>;
}

export function ok(summary: string): Finding {
  return { status: 'ok', summary };
}

export function warning(summary: string, remedy?: string): Finding {
  return { status: 'warning', summary, remedy };
}

export function failed(summary: string, remedy?: string): Finding {
  return { status: 'failed', summary, remedy };
}

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
