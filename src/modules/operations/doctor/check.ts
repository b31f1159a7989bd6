import type { Change } from '../../../platform/audit/audit-log.repository.js';
import { startupErrorMessage } from '../../../platform/lifecycle/start-problem.js';

export interface Finding {
  status: 'ok' | 'warning' | 'failed';
  summary: string;
  /** A command to paste, or else a sentence. */
  remedy?: string;
}

export interface Check {
  readonly name: string;
  /** An error becomes a finding. */
  run(): Promise<Finding[]>;
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

export interface NamedFinding extends Finding {
  check: string;
}

export interface ExamineSettings {
  /** Author and reason of repairs of counters; without it, checks write nothing. */
  repair?: Change;
  /** Called before each check. */
  onCheck?: (name: string) => void;
}

export async function examine(
  checks: readonly Check[],
  { onCheck }: ExamineSettings,
): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = [];
  for (const check of checks) {
    onCheck?.(check.name);
    const found = await check.run().catch((error: unknown) => [failed(sentenceOf(error))]);
    findings.push(...found.map((finding) => ({ check: check.name, ...finding })));
  }
  return findings;
}

/** The reason of an error, without its stack trace. */
export function sentenceOf(error: unknown): string {
  return startupErrorMessage(error)
    .split(/\n\s+at /, 1)
    .join('');
}
