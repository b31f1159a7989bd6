import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.js';
import { sha256 } from '../../src/platform/secrets.js';
import { AppSecretsService } from '../../src/modules/oauth/clients/app-secrets.service.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser } from '../support/browser.js';
import {
  approve,
  authorizeLink,
  exchange,
  sendForm,
  newCode,
  sendRefresh,
} from '../support/oauth-flow.js';
import { CommandLine } from '../support/command-line.js';
import { onOneEngine } from '../support/database.js';
import { expectNoCredential } from '../support/invariants.js';
import { json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, DECISION } from '../support/sign-in.js';

/** The limit of failed token calls per app and address. */
const TOKEN_FAILURES = 20;

/** Longer than the pause between two messages to one phone. */
const MESSAGE_PAUSE = 61 * SECOND;

/** A part of an event in the output of `audit list`. */
interface ListedEvent {
  id: string;
  action: string;
  subject: string;
  actor: string;
  details: Record<string, unknown>;
}

/** The action of an event, and the app and the grant that it must name. */
interface ExpectedEvent {
  action: string;
  app?: string;
  grant?: string;
}

onOneEngine('Audit log of OAuth', (database) => {
  const app = useTestApp(database);
  const cli = new CommandLine(database);
  let client: TestClient;
  let user: UserWithPhone;
  let code: string;
  let tokens: TokenBody;
  let grant: string;

  beforeEach(async () => {
    app().clock.advance(24 * HOUR);
    client = await app().addClient();
    user = await app().addUser();
    code = await newCode(app(), client, user);
    tokens = await json<TokenBody>(await exchange(app(), client, code));
    const hash = sha256(tokens.refresh_token);
    const { manager } = app().dataSource;
    grant = (await manager.findOneByOrFail(RefreshToken, { hash })).grantId;
  });

  const appAndGrant = () => ({ app: client.clientId, grant });
  const refresh = (refresh_token = tokens.refresh_token, target = client): Promise<Response> =>
    sendRefresh(app(), target, refresh_token);
  const revoke = (token: string): Promise<Response> =>
    sendForm(app(), '/oauth/revoke', client, { token });

  /** Returns the events that `work` records, as an operator lists them, and the result of `work`. */
  async function eventsOf<T>(
    work: () => Promise<T>,
  ): Promise<{ events: ListedEvent[]; result: T }> {
    const events = await app().dataSource.manager.find(AuditEvent, { select: { id: true } });
    const earlier = new Set(events.map(({ id }) => id));
    const result = await work();
    const listed = await cli.json<ListedEvent[]>('audit', 'list', '--limit', 'all');
    return { events: listed.filter(({ id }) => !earlier.has(id)), result };
  }

  /** Asserts these actions, in any order. No event may contain a credential or the phone. */
  function expectActions(events: ListedEvent[], expected: ExpectedEvent[]): void {
    const actions = events.map(({ action }) => action).toSorted();
    expect(actions).toEqual(expected.map(({ action }) => action).toSorted());
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

  /** Expects that the request of `work` records these events, each with the id and the address of the request. */
  async function expectEvents(
    work: () => Promise<{ status: number; headers: Headers }>,
    status: number,
    ...expected: ExpectedEvent[]
  ): Promise<void> {
    const { events, result } = await eventsOf(work);
    expect(result.status).toBe(status);
    expectActions(events, expected);
    const requestId = result.headers.get('x-request-id');
    expect(requestId).toMatch(/^req_/);
    const request = { request_id: requestId, address: '127.0.0.1' };
    for (const event of events) expect(event).toMatchObject(request);
  }

  it('O144 records the consent of a user and the issued tokens', async () => {
    app().clock.advance(MESSAGE_PAUSE);
    const { events, result } = await eventsOf(() => approve(app(), user, client));
    expectActions(events, [{ action: 'grant.created', app: client.clientId }]);
    const granted = events[0]?.subject;
    const issued = { action: 'token.issued', app: client.clientId, grant: granted };
    await expectEvents(() => exchange(app(), client, result.get('code') ?? ''), 200, issued);
  });

  it('O144 records a refresh, and its repetition within the retry window', async () => {
    await expectEvents(() => refresh(), 200, { action: 'token.refreshed', ...appAndGrant() });
    await expectEvents(() => refresh(), 200, { action: 'token.replayed', ...appAndGrant() });
  });

  it('O144 records the reuse of a refresh token and the revocation of its grant', async () => {
    await refresh();
    app().clock.advance(31 * SECOND);
    const reused = [
      { action: 'refresh_token.reused', ...appAndGrant() },
      { action: 'grant.revoked', ...appAndGrant() },
    ];
    await expectEvents(() => refresh(), 400, ...reused);
  });

  it('O144 records the reuse of a code and the revocation of its grant', async () => {
    app().clock.advance(10 * SECOND);
    const again = (): Promise<Response> => exchange(app(), client, code);
    const reused = [
      { action: 'code.replayed', ...appAndGrant() },
      { action: 'grant.revoked', ...appAndGrant() },
    ];
    await expectEvents(again, 400, ...reused);
  });

  it('O144 records the revocation of tokens by the app', async () => {
    const revokeAccessToken = (): Promise<Response> => revoke(tokens.access_token);
    await expectEvents(revokeAccessToken, 200, { action: 'token.revoked', ...appAndGrant() });
    const revokeGrant = (): Promise<Response> => revoke(tokens.refresh_token);
    await expectEvents(revokeGrant, 200, { action: 'grant.revoked', ...appAndGrant() });
  });

  it('O144 records the revocation of a grant by the user', async () => {
    const visitor = new Browser(app());
    app().clock.advance(MESSAGE_PAUSE);
    const page = await visitor.signInToAccount(user, `/account/apps/${client.clientId}`);
    const remove = () => visitor.submit(page, '/account/apps/revoke', {}, { follow: false });
    await expectEvents(remove, 303, { action: 'grant.revoked', ...appAndGrant() });
  });

  it('O144 records a denied authorization request', async () => {
    const visitor = new Browser(app());
    app().clock.advance(MESSAGE_PAUSE);
    const page = await visitor.signIn(authorizeLink(client), user);
    const deny = () => visitor.submit(page, DECISION, { decision: 'deny' });
    await expectEvents(deny, 303, { action: 'authorization.denied', app: client.clientId });
  });

  it('O144 records an exceeded limit once', async () => {
    const otherApp = await app().addClient();
    const guess = (): Promise<Response> => refresh('x', { ...otherApp, secret: 'wrong' });
    const { events } = await eventsOf(async () => {
      for (let call = 1; call < TOKEN_FAILURES; call += 1) expect((await guess()).status).toBe(401);
    });
    expect(events).toEqual([]);
    await expectEvents(guess, 401, { action: 'oauth.throttled', app: otherApp.clientId });
    await expectEvents(guess, 429);
  });

  it('O144 records the lock of a phone', async () => {
    app().clock.advance(MESSAGE_PAUSE);
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const phone = { phone: user.phone };
    const earlier = app().sms.count(user.phone);
    const page = await visitor.submit(phonePage, SIGN_IN, phone);
    const right = Number(await app().sms.password(user.phone, { afterMessages: earlier }));
    const lastAttemptAt = app().clock.now();
    const rows = app().dataSource.getRepository(OtpFailures);
    await rows.save({ ...phone, failures: 99, lastAttemptAt, lockedUntil: null });
    const wrong = String((right + 1) % 1_000_000).padStart(6, '0');
    const guess = () => visitor.submit(page, VERIFY, { code: wrong }, { follow: false });
    const { events } = await eventsOf(async () =>
      expectEvents(guess, 303, { action: 'otp.locked' }),
    );
    expect(events[0]).toMatchObject({ subject: user.id, actor: 'service' });
  });

  it('O144 records client secrets that an operator adds, retires and revokes, without a request id or an address', async () => {
    const secrets = app().service(AppSecretsService);
    const operator = { actor: 'olga' };
    const { clientId } = client;
    const first = await eventsOf(() => secrets.rotate(clientId, MINUTE, operator));
    expectActions(first.events, [
      { action: 'app.secret_added', app: clientId },
      { action: 'app.secret_retired', app: clientId },
    ]);
    const { secretId } = first.result;
    const second = await eventsOf(() => secrets.revoke(clientId, secretId, operator));
    expectActions(second.events, [{ action: 'app.secret_revoked', app: clientId }]);
    const details = { secretId, lastFour: first.result.secret.slice(-4) };
    const added = { action: 'app.secret_added', subject: clientId, details };
    expect(first.events).toContainEqual(expect.objectContaining(added));
    expect(second.events).toMatchObject([{ subject: clientId, details }]);
    for (const event of [...first.events, ...second.events])
      expect(event).toMatchObject({ ...operator, request_id: null, address: null });
  });

  it('O144 records a refresh token and an access token that another app sends', async () => {
    const otherApp = await app().addClient();
    const foreign = { action: 'token.foreign', app: otherApp.clientId, grant };
    await expectEvents(() => refresh(tokens.refresh_token, otherApp), 400, foreign);
    const token = tokens.access_token;
    await expectEvents(() => sendForm(app(), '/oauth/revoke', otherApp, { token }), 400, foreign);
  });

  it('O144 records a client secret in a URL', async () => {
    const expose = (): Promise<Response> =>
      sendForm(app(), `/oauth/token?client_secret=${client.secret}`, client, { grant_type: 'x' });
    await expectEvents(expose, 400, { action: 'app.secret_exposed', app: client.clientId });
  });
});
