import type { Change } from '../../audit/audit-log.repository.js';

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
