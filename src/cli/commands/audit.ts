import { Option } from 'commander';
import type { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';
import { countOrAll, moment, parseClientId, parseUserId, textUpTo } from '../option-values.js';
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

/** Time and action, and below it the other known members, within 80 columns. */
function eventText(event: AuditEvent): string {
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

/** Without the ids that have their own lines. */
function detailsText({ details, clientId, userId }: AuditEvent): string {
  return Object.entries(details)
    .filter(([, value]) => value === null || (value !== clientId && value !== userId))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

const DEFAULT_LIMIT = 100;
const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';

interface ListOptions {
  since?: ReturnType<typeof moment>;
  until?: ReturnType<typeof moment>;
  app?: string;
  user?: string;
  action?: string;
  limit: number;
}

export function addAuditCommands(program: CliCommand): void {
  const audit = program
    .command('audit')
    .description('See who changed what, when and why.')
    .examples('audit list --since 24h', `audit list --app ${APP}`);

  audit
    .command('list')
    .summary('List the events of the audit log, newest first.')
    .description(
      'List the events of the audit log, newest first: every change by an operator, and every token, consent, refusal and lock. Times are UTC. Events stay for as many days as AUDIT_LOG_DAYS says.',
    )
    .option('--since <time>', 'from then on: 24h or 30d ago, 2026-11-20, 2026-11-20T09:30Z', moment)
    .option('--until <time>', 'before then: written like --since', moment)
    .option('--app <client_id>', 'what is about this app, or was done by it', parseClientId)
    .option('--user <user_id>', 'what is about this user, or was done by them', parseUserId)
    .option('--action <name>', 'such as quota.set or refresh_token.reused', textUpTo(64))
    .addOption(
      new Option('--limit <number>', 'how many at most, or "all"')
        .argParser(countOrAll)
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
        .get('AuditTrail')
        .search({ since: since?.(now), until: until?.(now), clientId, userId, action }, limit);
      await (session.json ? printJson : printText)(session, events);
    });
}

async function printText(session: Session, events: AsyncIterable<AuditEvent>): Promise<void> {
  let separator = '';
  for await (const event of events) {
    await session.print(`${separator}${eventText(event)}\n`);
    separator = '\n';
  }
  if (separator === '') session.say('No event in the audit log is like that.');
}

/** One array, with one event a line. */
async function printJson(session: Session, events: AsyncIterable<AuditEvent>): Promise<void> {
  let separator = '[';
  for await (const event of events) {
    await session.print(`${separator}${JSON.stringify(eventJson(event))}`);
    separator = ',\n';
  }
  await session.print(separator === '[' ? '[]\n' : ']\n');
}
