import type { TokenBody } from '../../../support/responses.js';
import {
  type Apps,
  type Parameters,
  type Party,
  post,
  refreshed,
  refreshForm,
  type Row,
  tokens,
} from '../party.js';

const TOKEN = '/oauth/token';
const DAY = 86_400;

/** A request with the tokens of a fresh consent. */
function row(
  name: string,
  proves: string,
  ask: (party: Party, given: TokenBody) => Promise<Response>,
): Row {
  return {
    name: `refresh: ${name}`,
    proves,
    ask: async (party) => ask(party, await tokens(party, party.apps.garden)),
  };
}

/** The refresh of a fresh consent, with some parameters replaced. */
function refresh(
  name: string,
  proves: string,
  app: keyof Apps,
  replaced: Parameters = {},
  asked: Record<string, string | undefined> = {},
): Row {
  return {
    name: `refresh: ${name}`,
    proves,
    async ask(party) {
      const client = party.apps[app];
      const { refresh_token: value } = await tokens(party, client, asked);
      return post(party, TOKEN, client, { ...refreshForm(value), ...replaced });
    },
  };
}

const simple: Row[] = [
  refresh('a good token of a confidential app', 'O91', 'garden'),
  refresh('a good token of a public app', 'O91', 'pocket'),
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

const others: Row[] = [
  row('an access token', 'O92', (party, { access_token: value }) =>
    post(party, TOKEN, party.apps.garden, refreshForm(value)),
  ),
  row('the token of another app', 'O93', (party, { refresh_token: value }) =>
    post(party, TOKEN, party.apps.library, refreshForm(value)),
  ),
  row('a token that another app tried', 'O93', async (party, { refresh_token: value }) => {
    await post(party, TOKEN, party.apps.library, refreshForm(value));
    return post(party, TOKEN, party.apps.garden, refreshForm(value));
  }),
  row('a token after a wider scope', 'O95', async (party, { refresh_token: value }) => {
    const form = refreshForm(value);
    await post(party, TOKEN, party.apps.garden, { ...form, scope: 'posts.delete' });
    return post(party, TOKEN, party.apps.garden, form);
  }),
  row('the full scope after a narrower one', 'O94', async (party, { refresh_token: value }) => {
    const narrow = { ...refreshForm(value), scope: 'posts.read' };
    const answer = await post(party, TOKEN, party.apps.garden, narrow);
    const { refresh_token: next } = (await answer.json()) as TokenBody;
    return post(party, TOKEN, party.apps.garden, refreshForm(next));
  }),
  row('a token that nobody used for 31 days', 'O102', (party, { refresh_token: value }) => {
    party.advance(31 * DAY);
    return post(party, TOKEN, party.apps.garden, refreshForm(value));
  }),
];

/** A token is used, so many seconds pass, it is used again; then `look` is asked. */
function reuse(
  name: string,
  proves: string,
  seconds: number,
  look: (party: Party, first: string, second: string) => Promise<Response>,
): Row {
  return row(name, proves, async (party, { refresh_token: first }) => {
    const { refresh_token: second } = await refreshed(party, party.apps.garden, first);
    party.advance(seconds);
    return look(party, first, second);
  });
}

const send = (party: Party, value: string): Promise<Response> =>
  post(party, TOKEN, party.apps.garden, refreshForm(value));

const reuses: Row[] = [
  reuse('a used token at once', 'O96', 0, (party, first) => send(party, first)),
  reuse('a used token 31 seconds later', 'O97', 31, (party, first) => send(party, first)),
  reuse('a used token whose successor was used', 'O97', 0, async (party, first, second) => {
    await refreshed(party, party.apps.garden, second);
    return send(party, first);
  }),
  reuse('the successor after a token came twice', 'O96', 0, async (party, first, second) => {
    await send(party, first);
    return send(party, second);
  }),
  reuse('the successor after a token came again later', 'O97', 31, async (party, first, second) => {
    await send(party, first);
    return send(party, second);
  }),
];

/** The refresh grant (RFC 6749 §6, RFC 9700 §4.14.2). */
export const refreshRows: readonly Row[] = [...simple, ...others, ...reuses];
