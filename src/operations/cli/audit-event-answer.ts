import type { AuditEvent } from '../../audit/audit-event.entity.js';
import { wrappedTable } from '../../command-line/tables.js';

/** An event for programs, with the names of the API. */
export function eventJson(event: AuditEvent): object {
  return {
    id: event.id,
    at: event.at.toISOString(),
    action: event.action,
    actor: event.actor,
    subject: event.subject,
    client_id: event.clientId,
    user_id: event.userId,
    reason: event.reason,
    request_id: event.requestId,
    address: event.address,
    details: event.details,
  };
}

/** An event for people, within 80 columns: when and what, and below it whatever else is known. */
export function eventText(event: AuditEvent): string {
  const { at, action, actor, subject, clientId, userId, reason, requestId, address } = event;
  const named = [subject, actor];
  const rows: [name: string, value: string | null][] = [
    ['  by', actor],
    ['  about', subject],
    ['  app', clientId !== null && named.includes(clientId) ? null : clientId],
    ['  user', userId !== null && named.includes(userId) ? null : userId],
    ['  reason', reason],
    ['  details', detailsText(event)],
    ['  request', requestId],
    ['  address', address],
  ];
  const known = rows.filter((row): row is [string, string] => row[1] !== null && row[1] !== '');
  return `${at.toISOString()}  ${action}\n${wrappedTable(known)}`;
}

/** Without the ids that have a line of their own. */
function detailsText({ details, clientId, userId }: AuditEvent): string {
  return Object.entries(details)
    .filter(([, value]) => value === null || (value !== clientId && value !== userId))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
