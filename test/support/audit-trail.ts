import type { DataSource } from 'typeorm';
import { AuditEvent } from '../../src/audit/audit-event.entity.js';

export type AuditEntry = Pick<AuditEvent, 'action' | 'actor' | 'reason' | 'details'>;

/** What the audit log says about one subject, oldest first. */
export async function auditTrail(dataSource: DataSource, subject: string): Promise<AuditEntry[]> {
  const events = await dataSource.manager.find(AuditEvent, {
    where: { subject },
    order: { id: 'ASC' },
  });
  return events.map(({ action, actor, reason, details }) => ({ action, actor, reason, details }));
}
