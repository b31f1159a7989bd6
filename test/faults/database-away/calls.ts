import { type Page, Browser } from '../../support/browser.js';
import {
  approve,
  authorizeLink,
  exchange,
  obtainTokens,
  sendForm,
} from '../../support/oauth-flow.js';
import type { Member } from '../../support/member.js';
import type { TestApp } from '../../support/test-app.js';

/** As far as somebody has to look at it who is told to come back. */
export interface Answer {
  status: number;
  retryAfter: string | null;
  text: string;
}

/** Something that an app or a browser sends, as often as it is told to come back. */
export interface Call {
  name: string;
  /** Whether it writes nothing. */
  isRead: boolean;
  /** What it is answered when all is well. */
  well: number;
  send: () => Promise<Answer>;
}

const SIGN_IN = '/oauth/authorize/sign-in';

/** Of each kind of request one, with codes, tokens, posts and forms that are good. */
export async function callsOf(app: TestApp, member: Member): Promise<Call[]> {
  const { client } = member;
  const { id } = await member.publish();
  const { id: unwanted } = await member.publish();
  const code = (await approve(app, await app.addUser(), client)).get('code') ?? '';
  const { refresh_token } = await obtainTokens(app, client);
  const { refresh_token: token } = await obtainTokens(app, client);
  const [visitor, newcomer] = [new Browser(app), new Browser(app)];
  const consent = await visitor.signIn(authorizeLink(client), await app.addUser());
  const link = authorizeLink(client);
  const signIn = await newcomer.open(link);
  const { phone } = await app.addUser();
  const reader = new Browser(app);
  const { phone: own } = await app.addUser();
  const sent = await reader.submit(await reader.open(link), SIGN_IN, { phone: own });
  const password = { code: await app.sms.password(own) };
  const form = (path: string, fields: Record<string, string>) => () =>
    heard(sendForm(app, path, client, fields));
  const refresh = { grant_type: 'refresh_token', refresh_token };
  const comment = { text: 'Hi', parentId: null };
  const decision = { scope: [...client.scopes], decision: 'approve' };
  return [
    read('GET /me', () => heard(member.get('/me'))),
    read('GET /posts', () => heard(member.get('/posts'))),
    read('introspection', form('/oauth/introspect', { token: refresh_token })),
    write('POST /posts', 201, () => heard(member.post('/posts', { content: 'Hi' }))),
    write('POST /comments', 201, () => heard(member.post(`/posts/${id}/comments`, comment))),
    write('DELETE /posts', 200, () => heard(member.delete(`/posts/${unwanted}`))),
    write('exchange', 200, () => heard(exchange(app, client, code))),
    write('refresh', 200, form('/oauth/token', refresh)),
    write('revocation', 200, form('/oauth/revoke', { token })),
    write('authorization', 200, async () => shown(await new Browser(app).open(link))),
    write('sign-in', 200, async () => shown(await newcomer.submit(signIn, SIGN_IN, { phone }))),
    write('one-time password', 200, async () =>
      shown(await reader.submit(sent, '/oauth/authorize/verify', password)),
    ),
    write('decision', 303, async () =>
      shown(await visitor.submit(consent, '/oauth/authorize/decision', decision)),
    ),
  ];
}

function read(name: string, send: Call['send']): Call {
  return { name, isRead: true, well: 200, send };
}

function write(name: string, well: number, send: Call['send']): Call {
  return { name, isRead: false, well, send };
}

async function heard(sent: Promise<Response>): Promise<Answer> {
  const answer = await sent;
  const { status, headers } = answer;
  return { status, retryAfter: headers.get('retry-after'), text: await answer.text() };
}

function shown({ status, headers, html }: Page): Answer {
  return { status, retryAfter: headers.get('retry-after'), text: html };
}
