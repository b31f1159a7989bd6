import type { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import type { Session } from '../session.js';
import { membersOf, truncate, wrappedTable } from '../tables.js';
import { relativeTime } from '../times.js';

/** Most times and actions have at most this width, so that the lines of a list align. */
const TIME_WIDTH = 34;
const RELATIVE_TIME_WIDTH = 10;
const ACTION_WIDTH = 23;
/** In a narrower terminal, a line has room only for the relative time, or ids would be cut. */
const WIDTH_FOR_TIMES = 120;

export const EVENT_MEMBERS =
  'id, at, action, actor, subject, client_id, user_id, reason, request_id, address, details: {…}';

export function eventJson(event: AuditEvent): object {
  return membersOf(EVENT_MEMBERS, event);
}

/**
 * One line: time, action, actor, subject and app, each id once, then the other fields that have a value. A terminal gets the part that
 * fits its width.
 */
export function eventLine(session: Session, event: AuditEvent): string {
  const { at, action, actor, subject, clientId } = event;
  const named = new Set([actor, subject, ...(clientId === null ? [] : [clientId])]);
  const line = [
    lineTime(session, at),
    action.padEnd(ACTION_WIDTH),
    ...named,
    otherFields(event)
      .filter(([name]) => name !== 'app')
      .map(([name, value]) => (name === 'details' ? value : `${name}: ${value}`))
      .join(', '),
  ].join('  ');
  return truncate(line.replaceAll('\n', ' ').trimEnd(), session.width);
}

function lineTime(session: Session, at: Date): string {
  if (!session.isTerminal) return session.time(at);
  return session.width < WIDTH_FOR_TIMES
    ? relativeTime(at, new Date()).padEnd(RELATIVE_TIME_WIDTH)
    : session.time(at).padEnd(TIME_WIDTH);
}

/** Time and action, followed by a line for each other field that has a value, wrapped at the width of a terminal. Omits `id`. */
export function eventText(session: Session, event: AuditEvent): string {
  const { at, action, actor, subject } = event;
  const rows = [['by', actor], ['about', subject], ...otherFields(event)].map(
    ([name = '', value = '']) => [`  ${name}`, value] as const,
  );
  return `${session.time(at)}  ${action}\n${wrappedTable(rows, session.width)}`;
}

/** The fields that have a value, besides time, action, actor and subject. Omits an app or user that is the subject or actor. */
function otherFields(event: AuditEvent): [name: string, value: string][] {
  const { actor, subject, clientId, userId, reason, requestId, address } = event;
  const shownIds: (string | null)[] = [subject, actor];
  const fields: [name: string, value: string | null][] = [
    ['app', shownIds.includes(clientId) ? null : clientId],
    ['user', shownIds.includes(userId) ? null : userId],
    ['reason', reason],
    ['details', detailsText(event)],
    ['request', requestId],
    ['address', address],
  ];
  return fields.filter((field): field is [string, string] => field[1] !== null && field[1] !== '');
}

/** Omits the ids of the app and the user, which have their own fields. */
function detailsText({ details, clientId, userId }: AuditEvent): string {
  return Object.entries(details)
    .filter(([, value]) => value === null || (value !== clientId && value !== userId))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
