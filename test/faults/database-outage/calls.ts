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

/** The parts of a response that a retrying caller needs. */
export interface ReadResponse {
  status: number;
  retryAfter: string | null;
  text: string;
}

/** A request of an app or a browser, sent again after each 503. */
export interface Call {
  name: string;
  /** Whether it only reads. */
  isRead: boolean;
  /** The status of success. */
  expected: number;
  send: () => Promise<ReadResponse>;
}

const SIGN_IN = '/oauth/authorize/sign-in';

/** One valid request of each kind. */
export async function callsOf(app: TestApp, member: Member): Promise<Call[]> {
  const { client } = member;
  const { id } = await member.publish();
  const { id: deletable } = await member.publish();
  const code = (await approve(app, await app.addUser(), client)).get('code') ?? '';
  const { refresh_token } = await obtainTokens(app, client);
  const { refresh_token: revocable } = await obtainTokens(app, client);
  const [decisionBrowser, signInBrowser] = [new Browser(app), new Browser(app)];
  const consent = await decisionBrowser.signIn(authorizeLink(client), await app.addUser());
  const link = authorizeLink(client);
  const phonePage = await signInBrowser.open(link);
  const { phone } = await app.addUser();
  const passwordBrowser = new Browser(app);
  const { phone: passwordPhone } = await app.addUser();
  const codePage = await passwordBrowser.submit(await passwordBrowser.open(link), SIGN_IN, {
    phone: passwordPhone,
  });
  const password = { code: await app.sms.password(passwordPhone) };
  const form = (path: string, fields: Record<string, string>) => () =>
    readResponse(sendForm(app, path, client, fields));
  const refresh = { grant_type: 'refresh_token', refresh_token };
  const comment = { text: 'Hi', parentId: null };
  const decision = { scope: [...client.scopes], decision: 'approve' };
  return [
    read('GET /me', () => readResponse(member.get('/me'))),
    read('GET /posts', () => readResponse(member.get('/posts'))),
    read('introspection', form('/oauth/introspect', { token: refresh_token })),
    write('POST /posts', 201, () => readResponse(member.post('/posts', { content: 'Hi' }))),
    write('POST /comments', 201, () => readResponse(member.post(`/posts/${id}/comments`, comment))),
    write('DELETE /posts', 200, () => readResponse(member.delete(`/posts/${deletable}`))),
    write('exchange', 200, () => readResponse(exchange(app, client, code))),
    write('refresh', 200, form('/oauth/token', refresh)),
    write('revocation', 200, form('/oauth/revoke', { token: revocable })),
    write('authorization', 200, async () => readPage(await new Browser(app).open(link))),
    write('sign-in', 200, async () =>
      readPage(await signInBrowser.submit(phonePage, SIGN_IN, { phone })),
    ),
    write('one-time password', 200, async () =>
      readPage(await passwordBrowser.submit(codePage, '/oauth/authorize/verify', password)),
    ),
    write('decision', 303, async () =>
      readPage(await decisionBrowser.submit(consent, '/oauth/authorize/decision', decision)),
    ),
  ];
}

function read(name: string, send: Call['send']): Call {
  return { name, isRead: true, expected: 200, send };
}

function write(name: string, expected: number, send: Call['send']): Call {
  return { name, isRead: false, expected, send };
}

async function readResponse(sent: Promise<Response>): Promise<ReadResponse> {
  const response = await sent;
  const { status, headers } = response;
  return { status, retryAfter: headers.get('retry-after'), text: await response.text() };
}

function readPage({ status, headers, html }: Page): ReadResponse {
  return { status, retryAfter: headers.get('retry-after'), text: html };
}
