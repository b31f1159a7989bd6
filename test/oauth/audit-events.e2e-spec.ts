import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { HOUR, MINUTE, SECOND } from '../../src/common/clock.js';
import { sha256 } from '../../src/common/secrets.js';
import { AppSecretsService } from '../../src/modules/oauth/apps/app-secrets.service.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/otp-failures.entity.js';
import { RefreshToken } from '../../src/modules/oauth/token/refresh-token.entity.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { Browser } from '../support/browser.js';
import { approve, authorizeLink, exchange, requestToken, sendForm } from '../support/oauth-flow.js';
import { CommandLine } from '../support/command-line.js';
import { onOneEngine } from '../support/database.js';
import { expectNoCredential } from '../support/invariants.js';
import { json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const BUDGET = 3;

/** An event as "audit list" tells it, in part. */
interface Listed {
  id: string;
  action: string;
  subject: string;
  actor: string;
  details: Record<string, unknown>;
}

/** What an event must tell: its action, and the ids of the app and the grant that it is about, where there are such. */
interface Told {
  action: string;
  app?: string;
  grant?: string;
}

onOneEngine('The audit log', (database) => {
  const app = useTestApp(database, { OAUTH_TOKEN_FAILURES: String(BUDGET) });
  const cli = new CommandLine(database);
  let client: TestClient;
  let user: User;
  let code: string;
  let tokens: TokenBody;
  let grant: string;

  beforeEach(async () => {
    app().clock.advance(24 * HOUR);
    client = await app().addClient();
    user = await app().addUser();
    code = (await approve(app(), user, client)).get('code') ?? '';
    tokens = await json<TokenBody>(await exchange(app(), client, code));
    const hash = sha256(tokens.refresh_token);
    const { manager } = app().dataSource;
    grant = (await manager.findOneByOrFail(RefreshToken, { hash })).grantId;
  });

  const refresh = (refresh_token = tokens.refresh_token, of = client): Promise<Response> =>
    requestToken(app(), of, { grant_type: 'refresh_token', refresh_token });
  const revoke = (token: string): Promise<Response> =>
    sendForm(app(), '/oauth/revoke', client, { token });

  /** The events that `work` leaves, as an operator finds them, and the request that it made, if it made one. */
  async function eventsOf<T>(work: () => Promise<T>): Promise<{ events: Listed[]; done: T }> {
    const events = await app().dataSource.manager.find(AuditEvent, { select: { id: true } });
    const known = new Set(events.map(({ id }) => id));
    const done = await work();
    const listed = await cli.json<Listed[]>('audit', 'list', '--limit', 'all');
    return { events: listed.filter(({ id }) => !known.has(id)), done };
  }

  function expectTold(events: Listed[], expected: Told[]): void {
    const told = events.map(({ action }) => action).toSorted();
    expect(told).toEqual(expected.map(({ action }) => action).toSorted());
    for (const { action, app: clientId, grant: grantId } of expected) {
      const event = events.find((each) => each.action === action);
      const { subject, actor, details = {} } = event ?? {};
      if (clientId !== undefined)
        expect([subject, actor, ...Object.values(details)], action).toContain(clientId);
      if (grantId !== undefined) expect(subject, action).toBe(grantId);
    }
    const text = JSON.stringify(events);
    expectNoCredential(text, 'The audit log');
    expect(text).not.toContain(user.phone.slice(1));
  }

  /** Expects that the request of `work` leaves these events, each with its id and address. */
  async function expectEvents(
    work: () => Promise<{ status: number; headers: Headers }>,
    status: number,
    ...expected: Told[]
  ): Promise<void> {
    const { events, done } = await eventsOf(work);
    expect(done.status).toBe(status);
    expectTold(events, expected);
    const requestId = done.headers.get('x-request-id');
    expect(requestId).toMatch(/^req_/);
    const from = { request_id: requestId, address: '127.0.0.1' };
    for (const event of events) expect(event).toMatchObject(from);
  }

  it('O144 tells of tokens that were issued', async () => {
    const { events, done } = await eventsOf(() => approve(app(), user, client));
    expectTold(events, [{ action: 'grant.created', app: client.clientId }]);
    const granted = events[0]?.subject;
    const told = { action: 'token.issued', app: client.clientId, grant: granted };
    await expectEvents(() => exchange(app(), client, done.get('code') ?? ''), 200, told);
  });

  it('O144 tells of a refresh, and of its repeat in time', async () => {
    const about = { app: client.clientId, grant };
    await expectEvents(() => refresh(), 200, { action: 'token.refreshed', ...about });
    await expectEvents(() => refresh(), 200, { action: 'token.replayed', ...about });
  });

  it('O144 tells of a refresh token that is used again, and of the grant that it ends', async () => {
    await refresh();
    app().clock.advance(31 * SECOND);
    const about = { app: client.clientId, grant };
    const told = [
      { action: 'refresh_token.reused', ...about },
      { action: 'grant.revoked', ...about },
    ];
    await expectEvents(() => refresh(), 400, ...told);
  });

  it('O144 tells of a code that is used again, and of the grant that it ends', async () => {
    app().clock.advance(10 * SECOND);
    const about = { app: client.clientId, grant };
    const again = (): Promise<Response> => exchange(app(), client, code);
    const told = [
      { action: 'code.replayed', ...about },
      { action: 'grant.revoked', ...about },
    ];
    await expectEvents(again, 400, ...told);
  });

  it('O144 tells of tokens that an app gives back', async () => {
    const about = { app: client.clientId, grant };
    const access = (): Promise<Response> => revoke(tokens.access_token);
    await expectEvents(access, 200, { action: 'token.revoked', ...about });
    const all = (): Promise<Response> => revoke(tokens.refresh_token);
    await expectEvents(all, 200, { action: 'grant.revoked', ...about });
  });

  it('O144 tells of access that the user ends', async () => {
    const visitor = new Browser(app());
    const page = await visitor.signInToAccount(user);
    const remove = () =>
      visitor.submit(page, '/account/apps/revoke', { client_id: client.clientId });
    const about = { app: client.clientId, grant };
    await expectEvents(remove, 200, { action: 'grant.revoked', ...about });
  });

  it('O144 tells of a request that the user denies', async () => {
    const visitor = new Browser(app());
    const page = await visitor.signIn(authorizeLink(client), user);
    const deny = () => visitor.submit(page, '/oauth/authorize/decision', { decision: 'deny' });
    await expectEvents(deny, 303, { action: 'authorization.denied', app: client.clientId });
  });

  it('O144 tells of a budget that is spent', async () => {
    const other = await app().addClient();
    const guess = (): Promise<Response> => refresh('x', { ...other, secret: 'wrong' });
    for (let left = BUDGET - 1; left > 0; left -= 1) await expectEvents(guess, 401);
    await expectEvents(guess, 401, { action: 'oauth.throttled', app: other.clientId });
    await expectEvents(guess, 429);
  });

  it('O144 tells of a phone that is closed', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const phone = { phone: user.phone };
    const earlier = app().sms.count(user.phone);
    const page = await visitor.submit(phonePage, '/oauth/authorize/sign-in', phone);
    const right = Number(await app().sms.password(user.phone, earlier));
    const lastAt = app().clock.now();
    const rows = app().dataSource.getRepository(OtpFailures);
    await rows.save({ ...phone, failures: 99, lastAt, lockedUntil: null });
    const wrong = String((right + 1) % 1_000_000).padStart(6, '0');
    const guess = () => visitor.submit(page, '/oauth/authorize/verify', { code: wrong });
    const { events } = await eventsOf(async () =>
      expectEvents(guess, 400, { action: 'otp.locked' }),
    );
    expect(events[0]).toMatchObject({ subject: user.id, actor: 'service' });
  });

  it('O144 tells of client secrets that an operator adds, retires and revokes, which is no request', async () => {
    const secrets = app().service(AppSecretsService);
    const by = { actor: 'olga' };
    const { clientId } = client;
    const first = await eventsOf(() => secrets.rotate(clientId, MINUTE, by));
    expectTold(first.events, [
      { action: 'app.secret_added', app: clientId },
      { action: 'app.secret_retired', app: clientId },
    ]);
    const { secretId } = first.done;
    const second = await eventsOf(() => secrets.revoke(clientId, secretId, by));
    expectTold(second.events, [{ action: 'app.secret_revoked', app: clientId }]);
    for (const event of [...first.events, ...second.events])
      expect(event).toMatchObject({ ...by, request_id: null, address: null });
  });

  it('O144 tells of a refresh token and an access token in the hands of another app', async () => {
    const other = await app().addClient();
    const told = { action: 'token.foreign', app: other.clientId, grant };
    await expectEvents(() => refresh(tokens.refresh_token, other), 400, told);
    const token = tokens.access_token;
    await expectEvents(() => sendForm(app(), '/oauth/revoke', other, { token }), 400, told);
  });

  it('O144 tells of a code_challenge that led to a code before', async () => {
    const phone = await app().addClient({ kind: 'public' });
    await exchange(app(), phone, (await approve(app(), user, phone)).get('code') ?? '');
    const again = () => app().fetch(authorizeLink(phone));
    const told = { action: 'authorization.challenge_reused', app: phone.clientId };
    await expectEvents(again, 200, told);
  });

  it('O144 tells of a client secret that came in a URL', async () => {
    const expose = (): Promise<Response> =>
      sendForm(app(), `/oauth/token?client_secret=${client.secret}`, client, { grant_type: 'x' });
    await expectEvents(expose, 400, { action: 'app.secret_exposed', app: client.clientId });
  });
});
