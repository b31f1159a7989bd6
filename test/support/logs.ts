import type { DataSource } from 'typeorm';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';

/** A parsed line of the service's JSON log. */
export interface LogLine {
  level: string;
  time: string;
  context?: string;
  msg: string;
  request_id?: string;
  /** The stack trace of an error. */
  stack?: string;
  [member: string]: unknown;
}

/** Parses the JSON lines in the output of a service. */
export function logLines(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** The lines of the access log, one for each request whose response has closed. */
export function requestLines(output: string): LogLine[] {
  return logLines(output).filter(({ msg }) => msg === 'request');
}

/** The log lines at the levels warn, error and fatal. */
export function warningsAndErrors(output: string): LogLine[] {
  return logLines(output).filter(({ level }) => ['warn', 'error', 'fatal'].includes(level));
}

export type AuditEntry = Pick<AuditEvent, 'action' | 'actor' | 'reason' | 'details'>;

/** The audit events about one subject, oldest first. */
export async function auditTrail(dataSource: DataSource, subject: string): Promise<AuditEntry[]> {
  const events = await dataSource.manager.find(AuditEvent, {
    where: { subject },
    order: { id: 'ASC' },
  });
  return events.map(({ action, actor, reason, details }) => ({ action, actor, reason, details }));
}
