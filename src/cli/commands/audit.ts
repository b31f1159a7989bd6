import { Option } from 'commander';
import { AUDIT_ACTIONS, type AuditAction } from '../../platform/audit/audit-actions.js';
import type { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';
import { parseCountOrAll, parseTime, parseClientId, parseUserId } from '../option-values.js';
import { EVENT_MEMBERS, eventJson, eventLine, eventText } from './audit-event.js';

const DEFAULT_LIMIT = 100;
const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';

interface ListOptions {
  since?: ReturnType<typeof parseTime>;
  until?: ReturnType<typeof parseTime>;
  app?: string;
  user?: string;
  action?: AuditAction;
  limit: number;
  full?: boolean;
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
      'List audit events, newest first: changes by operators, issued and revoked tokens, consents, rejected requests and locked phone numbers. Each event is one line: time (UTC), action, actor, subject, app and details. A terminal cuts the line at its width, and below 120 columns shows the age of the event instead of its time. Use --full or a pipe to see everything. Events are deleted after AUDIT_LOG_DAYS days.',
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
    .option('--full', 'print each event on several lines, with all its details')
    .printsJson(`[{${EVENT_MEMBERS}}]`)
    .examples(
      'audit list --since 24h',
      'audit list --action post.removed --full',
      `audit list --app ${APP} --since 2026-11-20 --until 2026-11-21`,
      'audit list --action refresh_token.reused --limit all --json',
    )
    .execute(async (session, options: ListOptions) => {
      const { since, until, app: clientId, user: userId, action, limit, full = false } = options;
      const now = session.get('Clock').now();
      const events = session
        .get('AuditEventReader')
        .search({ since: since?.(now), until: until?.(now), clientId, userId, action }, limit);
      if (session.printsJson) await printJson(session, events);
      else await printText(session, events, full);
    });
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
