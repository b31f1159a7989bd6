// Each case is sent to both servers; the test compares the responses.

import type { TokenBody } from '../../../support/responses.js';
import {
  type Apps,
  type FormParameters,
  type TestedServer,
  post,
  mustRefresh,
  refreshForm,
  type Case,
  newTokens,
} from '../tested-server.js';

const TOKEN = '/oauth/token';
const DAY = 86_400;

/** A request with the tokens of a new consent. */
function afterConsent(
  name: string,
  proves: string,
  send: (server: TestedServer, issued: TokenBody) => Promise<Response>,
): Case {
  return {
    name: `refresh: ${name}`,
    proves,
    send: async (server) => send(server, await newTokens(server, server.apps.garden)),
  };
}

/** A refresh after a new consent. `replaced` changes its parameters, `linkParameters` those of the authorization request. */
function refresh(
  name: string,
  proves: string,
  app: keyof Apps,
  replaced: FormParameters = {},
  { linkParameters = {} }: { linkParameters?: Record<string, string | undefined> } = {},
): Case {
  return {
    name: `refresh: ${name}`,
    proves,
    async send(server) {
      const client = server.apps[app];
      const { refresh_token: value } = await newTokens(server, client, linkParameters);
      return post(server, TOKEN, client, { ...refreshForm(value), ...replaced });
    },
  };
}

const simple: Case[] = [
  refresh('a valid token of a confidential app', 'O91', 'garden'),
  refresh('a valid token of a public app', 'O91', 'pocket'),
  refresh('refresh_token missing', 'O92', 'garden', { refresh_token: undefined }),
  refresh('refresh_token unknown', 'O92', 'garden', { refresh_token: `svcrt_${'x'.repeat(43)}` }),
  refresh('refresh_token twice', 'O65', 'garden', { refresh_token: ['a', 'b'] }),
  refresh('scope narrower', 'O94', 'garden', { scope: 'posts.read' }),
  refresh('scope empty', 'O66', 'garden', { scope: '' }),
  refresh(
    'scope the same',
    'O91',
    'garden',
    { scope: 'posts.read' },
    { linkParameters: { scope: 'posts.read' } },
  ),
  refresh(
    'scope wider',
    'O95',
    'garden',
    { scope: 'posts.read posts.write' },
    { linkParameters: { scope: 'posts.read' } },
  ),
  refresh('scope unknown', 'O95', 'garden', { scope: 'posts.delete' }),
  refresh('scope of spaces', 'O95', 'garden', { scope: ' ' }),
];

const mixed: Case[] = [
  afterConsent('an access token', 'O92', (server, { access_token: value }) =>
    post(server, TOKEN, server.apps.garden, refreshForm(value)),
  ),
  afterConsent('the token of another app', 'O93', (server, { refresh_token: value }) =>
    post(server, TOKEN, server.apps.library, refreshForm(value)),
  ),
  afterConsent(
    'a token that another app tried',
    'O93',
    async (server, { refresh_token: value }) => {
      await post(server, TOKEN, server.apps.library, refreshForm(value));
      return post(server, TOKEN, server.apps.garden, refreshForm(value));
    },
  ),
  afterConsent(
    'a token after a request for an unknown scope',
    'O95',
    async (server, { refresh_token: value }) => {
      const form = refreshForm(value);
      await post(server, TOKEN, server.apps.garden, { ...form, scope: 'posts.delete' });
      return post(server, TOKEN, server.apps.garden, form);
    },
  ),
  afterConsent(
    'the full scope after a narrower one',
    'O94',
    async (server, { refresh_token: value }) => {
      const narrow = { ...refreshForm(value), scope: 'posts.read' };
      const response = await post(server, TOKEN, server.apps.garden, narrow);
      const { refresh_token: next } = (await response.json()) as TokenBody;
      return post(server, TOKEN, server.apps.garden, refreshForm(next));
    },
  ),
  afterConsent(
    'a token that was unused for 31 days',
    'O102',
    (server, { refresh_token: value }) => {
      server.advance(31 * DAY);
      return post(server, TOKEN, server.apps.garden, refreshForm(value));
    },
  ),
];

/** Refreshes with a token, moves the clock, and sends the request of `probe`, which gets the used token and its successor. */
function reuse(
  name: string,
  proves: string,
  { afterSeconds }: { afterSeconds: number },
  probe: (server: TestedServer, used: string, successor: string) => Promise<Response>,
): Case {
  return afterConsent(name, proves, async (server, { refresh_token: used }) => {
    const { refresh_token: successor } = await mustRefresh(server, server.apps.garden, used);
    server.advance(afterSeconds);
    return probe(server, used, successor);
  });
}

const refreshWith = (server: TestedServer, value: string): Promise<Response> =>
  post(server, TOKEN, server.apps.garden, refreshForm(value));

const reuses: Case[] = [
  reuse('a used token at once', 'O96', { afterSeconds: 0 }, (server, used) =>
    refreshWith(server, used),
  ),
  reuse('a used token 31 seconds later', 'O97', { afterSeconds: 31 }, (server, used) =>
    refreshWith(server, used),
  ),
  reuse(
    'a used token whose successor was used',
    'O97',
    { afterSeconds: 0 },
    async (server, used, successor) => {
      await mustRefresh(server, server.apps.garden, successor);
      return refreshWith(server, used);
    },
  ),
  reuse(
    'the successor of a token that was sent twice',
    'O96',
    { afterSeconds: 0 },
    async (server, used, successor) => {
      await refreshWith(server, used);
      return refreshWith(server, successor);
    },
  ),
  reuse(
    'the successor of a token that was sent again 31 seconds later',
    'O97',
    { afterSeconds: 31 },
    async (server, used, successor) => {
      await refreshWith(server, used);
      return refreshWith(server, successor);
    },
  ),
];

/** The refresh grant (RFC 6749 §6, RFC 9700 §4.14.2). */
export const refreshCases: readonly Case[] = [...simple, ...mixed, ...reuses];
