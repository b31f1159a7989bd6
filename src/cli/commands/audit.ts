import { InvalidArgumentError, Option } from 'commander';
import { AUDIT_ACTIONS, type AuditAction } from '../../platform/audit/audit-actions.js';
import type { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import { type CliCommand, EXAMPLE_APP, type TimeOptions } from '../command.js';
import type { Session } from '../session.js';
import { parseCountOrAll, parseClientId, parseUserId } from '../option-values.js';
import { membersOf, truncate, wrappedTable } from '../tables.js';
import { relativeTime } from '../times.js';

const DEFAULT_LIMIT = 100;
/** Most times and actions have at most this width, so that the lines of a list align. */
const TIME_WIDTH = 34;
const RELATIVE_TIME_WIDTH = 10;
const ACTION_WIDTH = 23;
/** In a narrower terminal, a line has room only for the relative time, or ids would be cut. */
const WIDTH_FOR_TIMES = 120;

export const EVENT_MEMBERS =
  'id, at, action, actor, subject, client_id, user_id, reason, request_id, address, details: {…}';

interface ListOptions extends TimeOptions {
  app?: string;
  user?: string;
  action?: AuditAction;
  notAction?: AuditAction[];
  limit: number;
  full?: boolean;
}

export function addAuditCommands(program: CliCommand): void {
  const audit = program
    .command('audit')
    .description('Show the audit log.')
    .examples('audit list --since 24h', `audit list --app ${EXAMPLE_APP}`);

  audit
    .command('list')
    .summary('List audit events, newest first.')
    .description(
      'List audit events, newest first: changes by operators, imports, issued and revoked tokens, consents, rejected requests and locked phone numbers. Each event is one line: time (UTC), action, actor, subject, app and details. A terminal cuts the line at its width, and below 120 columns shows the age of the event instead of its time. Use --full or a pipe to see everything. Events are deleted after AUDIT_LOG_DAYS days.',
    )
    .acceptsTimes()
    .option('--app <client_id>', 'events of this app', parseClientId)
    .option('--user <user_id>', 'events of this user', parseUserId)
    .option('--actor <name>', 'events of this actor: an operator, an id, or "service"')
    .addOption(new Option('--action <name>', 'events of this action').choices(AUDIT_ACTIONS))
    .option('--not-action <name>', 'no events of this action; repeatable', collectAction)
    .addOption(
      new Option('--limit <number>', 'maximum number of events, or "all"')
        .argParser(parseCountOrAll)
        .default(DEFAULT_LIMIT, String(DEFAULT_LIMIT)),
    )
    .option('--full', 'print each event on several lines, with all its details')
    .printsJson(`[{${EVENT_MEMBERS}}]`)
    .examples(
      'audit list --since 24h',
      'audit list --action post.removed --full',
      'audit list --actor olga --not-action user.added --not-action user.updated',
      `audit list --app ${EXAMPLE_APP} --since 2026-11-20 --until 2026-11-21`,
      'audit list --action refresh_token.reused --limit all --json',
    )
    .execute(async (session, options: ListOptions, command: CliCommand) => {
      const { since, until, app: clientId, user: userId, limit, full = false } = options;
      const { action, notAction: notActions } = options;
      // Every command accepts --actor, so the program has its value.
      const { actor } = command.optsWithGlobals<{ actor?: string }>();
      const now = session.get('Clock').now();
      const events = session
        .get('AuditEventReader')
        .search(
          { since: since?.(now), until: until?.(now), clientId, userId, action, notActions, actor },
          limit,
        );
      if (session.printsJson) await printJson(session, events);
      else await printText(session, events, full);
    });
}

function collectAction(input: string, previous: readonly AuditAction[] = []): AuditAction[] {
  const action = AUDIT_ACTIONS.find((name) => name === input);
  if (action === undefined)
    throw new InvalidArgumentError('It must be one of the actions that --help lists at --action.');
  return [...previous, action];
}

/** @param full separates the events, of several lines each, by an empty line */
async function printText(
  session: Session,
  events: AsyncIterable<AuditEvent>,
  full: boolean,
): Promise<void> {
  let count = 0;
  for await (const event of events) {
    if (full && count > 0) await session.print('\n');
    await session.print(`${(full ? eventText : eventLine)(session, event)}\n`);
    count += 1;
  }
  if (count === 0) session.printNote('No matching events.');
}

/** One JSON array with one event per line. */
async function printJson(session: Session, events: AsyncIterable<AuditEvent>): Promise<void> {
  let separator = '[';
  for await (const event of events) {
    await session.print(`${separator}${JSON.stringify(eventJson(event))}`);
    separator = ',\n';
  }
  await session.print(separator === '[' ? '[]\n' : ']\n');
}

export function eventJson(event: AuditEvent): object {
  return membersOf(EVENT_MEMBERS, event);
}

/**
 * One line: time, action, actor, subject and app, each id once, then the other fields that have a value. A terminal gets the part that
 * fits its width.
 */
function eventLine(session: Session, event: AuditEvent): string {
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
