import type { ApiCall } from '../../modules/quota/quota.entities.js';
import type { CliCommand } from '../command.js';
import { parseRequestId } from '../option-values.js';
import type { Session } from '../session.js';
import { keyValues, membersOf } from '../tables.js';
import { EVENT_MEMBERS, eventJson, eventText } from './audit.js';

const CALL_MEMBERS = 'at, client_id, user_id, method, route, status, duration_ms, metered';
const SHOW = 'request show req_01kahq5f3veqdr8bn3tdmx3q0a';

export function addRequestCommands(program: CliCommand): void {
  program
    .command('request')
    .description('Show what is known about a request.')
    .examples(SHOW)
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
        note: `The access log has this id as request_id, with the error code of a failed request: grep ${id} FILE`,
      };
    });
}

async function callText(session: Session, call: ApiCall): Promise<string> {
  const { status, durationMs, metered } = call;
  return keyValues({
    time: session.time(call.at),
    app: await session.appLabel(call.clientId),
    user: call.userId === null ? 'erased' : await session.userLabel(call.userId),
    ...routeOf(call),
    status: status === 499 ? '499 (the client closed the connection)' : status,
    duration: `${durationMs} ms`,
    quota: metered ? 'counted' : 'not counted',
  });
}

/** The call log stores both in one column, such as `POST /dev/v1/posts`. */
function routeOf({ route }: ApiCall): { method: string; route: string } {
  const [method = '', path = ''] = route.split(' ');
  return { method, route: path };
}
