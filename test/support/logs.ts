import type { DataSource } from 'typeorm';
import { AuditEvent } from '../../src/audit/audit-event.entity.js';

/** A line of the service's log, as JSON has it. */
export interface LogLine {
  level: string;
  time: string;
  context?: string;
  msg: string;
  request_id?: string;
  /** Of an error. */
  stack?: string;
  [member: string]: unknown;
}

/** The lines of the log in what a service printed; the words at its start are none. */
export function logLines(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** The line that tells how each request ended. */
export function requestLines(output: string): LogLine[] {
  return logLines(output).filter(({ msg }) => msg === 'request');
}

/** What was logged as a fault or a warning. */
export function warningsAndErrors(output: string): LogLine[] {
  return logLines(output).filter(({ level }) => ['warn', 'error', 'fatal'].includes(level));
}

export type AuditEntry = Pick<AuditEvent, 'action' | 'actor' | 'reason' | 'details'>;

/** What the audit log says about one subject, oldest first. */
export async function auditTrail(dataSource: DataSource, subject: string): Promise<AuditEntry[]> {
  const events = await dataSource.manager.find(AuditEvent, {
    where: { subject },
    order: { id: 'ASC' },
  });
  return events.map(({ action, actor, reason, details }) => ({ action, actor, reason, details }));
}
