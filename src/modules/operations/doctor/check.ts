import type { Change } from '../../../platform/audit/audit-log.repository.js';
import { startupErrorMessage } from '../../../platform/lifecycle/startup-error.js';

export interface Finding {
  status: 'ok' | 'warning' | 'failed';
  summary: string;
  /** A sentence, a shell command, an SQL statement, or a variable with its value. */
  remedy?: string;
}

/** The name of a check, and its findings. An error is reported as a failed finding. */
export type Check = readonly [name: string, run: () => Promise<Finding | Finding[]>];

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

export interface CheckOptions {
  /** Actor and reason in the audit events of repaired counters. Without it, checks do not repair counters. */
  repairAs?: Change;
  /** Called before each check. */
  onCheck?: (name: string) => void;
}

export async function runChecks(
  checks: readonly Check[],
  { onCheck }: CheckOptions,
): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = [];
  for (const [check, run] of checks) {
    onCheck?.(check);
    const found = await Promise.resolve()
      .then(run)
      .catch((error: unknown) => failed(messageOf(error)));
    findings.push(...[found].flat().map((finding) => ({ check, ...finding })));
  }
  return findings;
}

/** The message of an error, without its stack trace. */
export function messageOf(error: unknown): string {
  return startupErrorMessage(error)
    .split(/\n\s+at /, 1)
    .join('');
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
