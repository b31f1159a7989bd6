import type { TokenBody } from '../../../support/responses.js';
import {
  type Apps,
  type FormParameters,
  type TestedServer,
  post,
  refreshed,
  refreshForm,
  type Row,
  tokens,
} from '../tested-server.js';

const TOKEN = '/oauth/token';
const DAY = 86_400;

/** A request with the tokens of a new consent. */
function row(
  name: string,
  proves: string,
  send: (server: TestedServer, issued: TokenBody) => Promise<Response>,
): Row {
  return {
    name: `refresh: ${name}`,
    proves,
    send: async (server) => send(server, await tokens(server, server.apps.garden)),
  };
}

/** A refresh after a new consent, with some parameters replaced. */
function refresh(
  name: string,
  proves: string,
  app: keyof Apps,
  replaced: FormParameters = {},
  linkParameters: Record<string, string | undefined> = {},
): Row {
  return {
    name: `refresh: ${name}`,
    proves,
    async send(server) {
      const client = server.apps[app];
      const { refresh_token: value } = await tokens(server, client, linkParameters);
      return post(server, TOKEN, client, { ...refreshForm(value), ...replaced });
    },
  };
}

const simple: Row[] = [
  refresh('a valid token of a confidential app', 'O91', 'garden'),
  refresh('a valid token of a public app', 'O91', 'pocket'),
  refresh('refresh_token missing', 'O92', 'garden', { refresh_token: undefined }),
  refresh('refresh_token unknown', 'O92', 'garden', { refresh_token: `svcrt_${'x'.repeat(43)}` }),
  refresh('refresh_token twice', 'O65', 'garden', { refresh_token: ['a', 'b'] }),
  refresh('scope narrower', 'O94', 'garden', { scope: 'posts.read' }),
  refresh('scope empty', 'O66', 'garden', { scope: '' }),
  refresh('scope the same', 'O91', 'garden', { scope: 'posts.read' }, { scope: 'posts.read' }),
  refresh(
    'scope wider',
    'O95',
    'garden',
    { scope: 'posts.read posts.write' },
    { scope: 'posts.read' },
  ),
  refresh('scope unknown', 'O95', 'garden', { scope: 'posts.delete' }),
  refresh('scope of spaces', 'O95', 'garden', { scope: ' ' }),
];

const mixed: Row[] = [
  row('an access token', 'O92', (server, { access_token: value }) =>
    post(server, TOKEN, server.apps.garden, refreshForm(value)),
  ),
  row('the token of another app', 'O93', (server, { refresh_token: value }) =>
    post(server, TOKEN, server.apps.library, refreshForm(value)),
  ),
  row('a token that another app tried', 'O93', async (server, { refresh_token: value }) => {
    await post(server, TOKEN, server.apps.library, refreshForm(value));
    return post(server, TOKEN, server.apps.garden, refreshForm(value));
  }),
  row(
    'a token after a request for an unknown scope',
    'O95',
    async (server, { refresh_token: value }) => {
      const form = refreshForm(value);
      await post(server, TOKEN, server.apps.garden, { ...form, scope: 'posts.delete' });
      return post(server, TOKEN, server.apps.garden, form);
    },
  ),
  row('the full scope after a narrower one', 'O94', async (server, { refresh_token: value }) => {
    const narrow = { ...refreshForm(value), scope: 'posts.read' };
    const response = await post(server, TOKEN, server.apps.garden, narrow);
    const { refresh_token: next } = (await response.json()) as TokenBody;
    return post(server, TOKEN, server.apps.garden, refreshForm(next));
  }),
  row('a token that was unused for 31 days', 'O102', (server, { refresh_token: value }) => {
    server.advance(31 * DAY);
    return post(server, TOKEN, server.apps.garden, refreshForm(value));
  }),
];

/** Uses a token, moves the clock, and sends the request of `probe`. */
function reuse(
  name: string,
  proves: string,
  seconds: number,
  probe: (server: TestedServer, first: string, second: string) => Promise<Response>,
): Row {
  return row(name, proves, async (server, { refresh_token: first }) => {
    const { refresh_token: second } = await refreshed(server, server.apps.garden, first);
    server.advance(seconds);
    return probe(server, first, second);
  });
}

const refreshWith = (server: TestedServer, value: string): Promise<Response> =>
  post(server, TOKEN, server.apps.garden, refreshForm(value));

const reuses: Row[] = [
  reuse('a used token at once', 'O96', 0, (server, first) => refreshWith(server, first)),
  reuse('a used token 31 seconds later', 'O97', 31, (server, first) => refreshWith(server, first)),
  reuse('a used token whose successor was used', 'O97', 0, async (server, first, second) => {
    await refreshed(server, server.apps.garden, second);
    return refreshWith(server, first);
  }),
  reuse('the successor of a token that was sent twice', 'O96', 0, async (server, first, second) => {
    await refreshWith(server, first);
    return refreshWith(server, second);
  }),
  reuse(
    'the successor of a token that was sent again 31 seconds later',
    'O97',
    31,
    async (server, first, second) => {
      await refreshWith(server, first);
      return refreshWith(server, second);
    },
  ),
];

/** The refresh grant (RFC 6749 §6, RFC 9700 §4.14.2). */
export const refreshRows: readonly Row[] = [...simple, ...mixed, ...reuses];
