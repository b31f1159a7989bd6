import { Option } from 'commander';
import type { ApiCall } from '../../modules/quota/quota.entities.js';
import { DAY } from '../../platform/clock.js';
import { API_ERRORS, InvalidRequest } from '../../platform/errors.js';
import {
  type CliCommand,
  EXAMPLE_APP,
  EXAMPLE_USER,
  listResult,
  type PagingOptions,
  timeRangeOf,
  type TimeOptions,
} from '../command.js';
import {
  parseCallId,
  parseClientId,
  parseRequestId,
  parseStatus,
  parseUserId,
  textUpTo,
} from '../option-values.js';
import type { Session } from '../session.js';
import { csvText, keyValues, membersOf } from '../tables.js';
import { EVENT_MEMBERS, eventJson, eventText } from './audit.js';

const CALL_MEMBERS =
  'at, client_id, user_id, method, route, status, error_code, duration_ms, metered';
const LISTED_MEMBERS = `id, request_id, ${CALL_MEMBERS}`;
const DEFAULT_LIMIT = 100;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const LIST = `request list --app ${EXAMPLE_APP} --status 429 --since yesterday`;
const SHOW = 'request show req_01kahq5f3veqdr8bn3tdmx3q0a';

interface ListOptions extends PagingOptions, TimeOptions {
  app?: string;
  user?: string;
  status?: readonly [number, number];
  error?: string;
  route?: string;
  csv?: boolean;
}

export function addRequestCommands(program: CliCommand): void {
  const request = program
    .command('request')
    .description('List API calls, and show what is known about a request.')
    .examples(LIST, SHOW);

  request
    .command('list')
    .summary('List API calls, newest first.')
    .description(
      'List API calls, newest first: time, status, error code, app, user, request id, duration and route. Without --app or --user, --since and --until may be at most a day apart. Calls are recorded within seconds and kept for CALL_LOG_DAYS days; calls before version 1.2 have no error code. Requests for pages and tokens, and requests that were rejected before the app was known, are not API calls: the access log has them.',
    )
    .option('--app <client_id>', 'calls of this app', parseClientId)
    .option('--user <user_id>', 'calls for this user', parseUserId)
    .option('--status <status>', 'calls with this status, such as 429 or 4xx', parseStatus)
    .addOption(
      new Option('--error <code>', 'calls with this error code').choices(Object.keys(API_ERRORS)),
    )
    .option(
      '--route <route>',
      'calls of this route, such as "POST /dev/v1/posts", or /dev/v1/posts for any method',
      textUpTo(100),
    )
    .acceptsTimes(undefined, '24h')
    .acceptsPaging(parseCallId, DEFAULT_LIMIT)
    .acceptsCsv()
    .printsJson(`{requests: [{${LISTED_MEMBERS}}], next_before}`)
    .examples(
      LIST,
      `request list --user ${EXAMPLE_USER} --since 7d --csv > calls.csv`,
      'request list --error internal_error --since yesterday --until today --json',
    )
    .execute(async (session, options: ListOptions) => {
      const { app: clientId, user: userId, status: statuses, error: errorCode } = options;
      const { route, csv = false, limit, before } = options;
      // Throw if the user or the app does not exist.
      if (userId !== undefined) await session.get('UsersService').get(userId);
      if (clientId !== undefined) await session.get('AppsService').get(clientId);
      const now = session.get('Clock').now();
      const range = timeRangeOf(options, now);
      const end = range.to < now ? range.to : now;
      if (userId === undefined && clientId === undefined && +end - +range.from > DAY)
        throw new InvalidRequest(
          'The time is more than a day. Add --app or --user, or set --since and --until at most 24 hours apart.',
        );
      const routes = route?.startsWith('/') ? METHODS.map((one) => `${one} ${route}`) : route;
      const search = { range, clientId, userId, statuses, errorCode };
      const calls = await session
        .get('CallLog')
        .find(
          { ...search, ...(routes !== undefined && { routes: [routes].flat() }) },
          { limit, before },
        );
      const json = calls.items.map((call) => membersOf(LISTED_MEMBERS, call, routeOf(call)));
      const text = csv ? await csvText(LISTED_MEMBERS, json) : callList(session, calls.items);
      return listResult('requests', calls, { json, text });
    });

  request
    .command('show')
    .summary('Show the API call and the audit events of a request.')
    .description(
      'Show the API call and the audit events of a request. The id is in the X-Request-Id header of the response, in request_id of an error, and in the small print of an error page. API calls are recorded within seconds and kept for CALL_LOG_DAYS days. Requests for pages and tokens are not API calls: the access log has them, and the audit log has what they changed.',
    )
    .argument('<request_id>', 'such as req_…', parseRequestId)
    .printsJson(
      `{request_id, received_at, calls: [{${CALL_MEMBERS}}], events: [{${EVENT_MEMBERS}}]}`,
    )
    .examples(SHOW, `${SHOW} --json`)
    .execute(async (session, id: string) => {
      const { receivedAt, calls, events } = await session.get('RequestTraces').get(id);
      const parts = [
        keyValues({ request_id: id, received_at: session.time(receivedAt) }),
        ...(await Promise.all(calls.map((call) => callText(session, call)))),
        ...events.map((event) => eventText(session, event)),
      ];
      return {
        json: {
          request_id: id,
          received_at: receivedAt.toISOString(),
          calls: calls.map((call) => membersOf(CALL_MEMBERS, call, routeOf(call))),
          events: events.map(eventJson),
        },
        text: parts.join('\n\n'),
        note: `The access log has this id as request_id: grep ${id} FILE`,
      };
    });
}

/** A terminal that is too narrow gets each call as a table. */
function callList(session: Session, calls: readonly ApiCall[]): string {
  return session.list(
    ['TIME', 'STATUS', 'ERROR', 'CLIENT_ID', 'USER_ID', 'REQUEST_ID', 'MS', 'ROUTE'],
    calls.map((call) => [
      session.time(call.at),
      String(call.status),
      call.errorCode ?? '-',
      call.clientId,
      call.userId ?? '-',
      call.requestId,
      String(call.durationMs),
      call.route,
    ]),
    'No API call matches.',
  );
}

async function callText(session: Session, call: ApiCall): Promise<string> {
  const { status, errorCode, durationMs, metered } = call;
  return keyValues({
    time: session.time(call.at),
    app: await session.appLabel(call.clientId),
    user: call.userId === null ? 'erased' : await session.userLabel(call.userId),
    ...routeOf(call),
    status: status === 499 ? '499 (the client closed the connection)' : status,
    ...(errorCode !== null && { error: errorCode }),
    duration: `${durationMs} ms`,
    quota: metered ? 'counted' : 'not counted',
  });
}

/** The call log stores both in one column, such as `POST /dev/v1/posts`. */
function routeOf({ route }: ApiCall): { method: string; route: string } {
  const [method = '', path = ''] = route.split(' ');
  return { method, route: path };
}
