import { Option } from 'commander';
import { AUDIT_ACTIONS, type AuditAction } from '../../platform/audit/audit-actions.js';
import type { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';
import { parseCountOrAll, parseTime, parseClientId, parseUserId } from '../option-values.js';
import { wrappedTable } from '../tables.js';

function eventJson(event: AuditEvent): object {
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

/**
 * Time and action, followed by the other fields that have a value, in at most `width` columns. Omits `id`, and an app or user that is
 * the subject or actor.
 */
function eventText(event: AuditEvent, width: number): string {
  const { at, action, actor, subject, clientId, userId, reason, requestId, address } = event;
  const shownIds = [subject, actor];
  const rows: [name: string, value: string | null][] = [
    ['  by', actor],
    ['  about', subject],
    ['  app', clientId !== null && shownIds.includes(clientId) ? null : clientId],
    ['  user', userId !== null && shownIds.includes(userId) ? null : userId],
    ['  reason', reason],
    ['  details', detailsText(event)],
    ['  request', requestId],
    ['  address', address],
  ];
  const present = rows.filter((row): row is [string, string] => row[1] !== null && row[1] !== '');
  return `${at.toISOString()}  ${action}\n${wrappedTable(present, width)}`;
}

/** Omits the ids of the app and the user, which have their own lines. */
function detailsText({ details, clientId, userId }: AuditEvent): string {
  return Object.entries(details)
    .filter(([, value]) => value === null || (value !== clientId && value !== userId))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

const DEFAULT_LIMIT = 100;
const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';

interface ListOptions {
  since?: ReturnType<typeof parseTime>;
  until?: ReturnType<typeof parseTime>;
  app?: string;
  user?: string;
  action?: AuditAction;
  limit: number;
}

export function addAuditCommands(program: CliCommand): void {
  const audit = program
    .command('audit')
    .description('Show the audit log.')
    .examples('audit list --since 24h', `audit list --app ${APP}`);

  audit
    .command('list')
    .summary('List audit events, newest first.')
    .description(
      'List audit events, newest first: changes by operators, issued and revoked tokens, consents, rejected requests and locked phone numbers. Times are UTC. Events are deleted after AUDIT_LOG_DAYS days.',
    )
    .option(
      '--since <time>',
      'at or after this time: an age such as 24h or 30d, 2026-11-20, or 2026-11-20T09:30Z',
      parseTime,
    )
    .option('--until <time>', 'before this time, in the same formats', parseTime)
    .option('--app <client_id>', 'events of this app', parseClientId)
    .option('--user <user_id>', 'events of this user', parseUserId)
    .addOption(new Option('--action <name>', 'events of this action').choices(AUDIT_ACTIONS))
    .addOption(
      new Option('--limit <number>', 'maximum number of events, or "all"')
        .argParser(parseCountOrAll)
        .default(DEFAULT_LIMIT, String(DEFAULT_LIMIT)),
    )
    .examples(
      'audit list --since 24h',
      `audit list --app ${APP} --since 2026-11-20 --until 2026-11-21`,
      'audit list --action refresh_token.reused --limit all --json',
    )
    .execute(async (session, options: ListOptions) => {
      const { since, until, app: clientId, user: userId, action, limit } = options;
      const now = session.get('Clock').now();
      const events = session
        .get('AuditEventReader')
        .search({ since: since?.(now), until: until?.(now), clientId, userId, action }, limit);
      await (session.printsJson ? printJson : printText)(session, events);
    });
}

async function printText(session: Session, events: AsyncIterable<AuditEvent>): Promise<void> {
  let separator = '';
  for await (const event of events) {
    await session.print(`${separator}${eventText(event, session.width)}\n`);
    separator = '\n';
  }
  if (separator === '') session.printNote('No matching events.');
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
