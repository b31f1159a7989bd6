import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.js';
import { sha256 } from '../../src/platform/secrets.js';
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
import { DECISION } from '../support/sign-in.js';

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
    expectActions(events, [
      { action: 'otp.requested', app: client.clientId },
      { action: 'user.signed_in', app: client.clientId },
      { action: 'grant.created', app: client.clientId },
    ]);
    const granted = events.find(({ action }) => action === 'grant.created')?.subject;
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

  describe('codes and tokens that another app sends', () => {
    let otherApp: TestClient;
    beforeEach(async () => {
      otherApp = await app().addClient();
    });

    const introspect = (token: string): Promise<Response> =>
      sendForm(app(), '/oauth/introspect', otherApp, { token });

    it('O144 records a token at each endpoint', async () => {
      const foreign = { action: 'token.foreign', app: otherApp.clientId, grant };
      await expectEvents(() => refresh(tokens.refresh_token, otherApp), 400, foreign);
      const token = tokens.access_token;
      await expectEvents(() => sendForm(app(), '/oauth/revoke', otherApp, { token }), 400, foreign);
      await expectEvents(() => introspect(token), 200, foreign);
      await expectEvents(() => introspect(tokens.refresh_token), 200, foreign);
    });

    it('O144 records a code, new or used, and names the owner', async () => {
      app().clock.advance(MESSAGE_PAUSE);
      const newGrant = await newCode(app(), client, user);
      const foreign = { action: 'token.foreign', app: otherApp.clientId };
      await expectEvents(() => exchange(app(), otherApp, newGrant), 400, foreign);
      await expectEvents(() => exchange(app(), otherApp, code), 400, { ...foreign, grant });
      const list = ['audit', 'list', '--action', 'token.foreign', '--limit', '1'];
      const [event] = await cli.json<ListedEvent[]>(...list);
      expect(event?.details).toEqual({
        clientId: client.clientId,
        userId: user.id,
        kind: 'code',
        endpoint: 'token',
      });
      // It stays valid for its own app.
      expect((await exchange(app(), client, newGrant)).status).toBe(200);
    });

    it('O144 records nothing if the code or token is unknown', async () => {
      await expectEvents(() => introspect(`svcat_${'A'.repeat(43)}`), 200);
      await expectEvents(() => exchange(app(), otherApp, `svcac_${'A'.repeat(43)}`), 400);
    });

    it.each<[string, () => Promise<Response>]>([
      ['introspection', () => introspect(tokens.access_token)],
      ['an exchange', () => exchange(app(), otherApp, code)],
      ['a refresh', () => refresh(tokens.refresh_token, otherApp)],
      [
        'a revocation',
        () => sendForm(app(), '/oauth/revoke', otherApp, { token: tokens.access_token }),
      ],
    ])('O144 records %s once an hour, so that no app can fill the log', async (_title, send) => {
      const recorded = async (times: number): Promise<number> => {
        const { events } = await eventsOf(async () => {
          for (let number = 1; number <= times; number += 1) await send();
        });
        return events.filter(({ action }) => action === 'token.foreign').length;
      };
      expect(await recorded(10)).toBe(1);
      app().clock.advance(HOUR + 2 * MINUTE);
      expect(await recorded(2)).toBe(1);
    });
  });
});
