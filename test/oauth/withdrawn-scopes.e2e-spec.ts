import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser } from '../support/browser.js';
import { onOneEngine, onOneServer } from '../support/database.js';
import { authorizeLink, exchange, sendForm, sendRefresh, newCode } from '../support/oauth-flow.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { DECISION } from '../support/sign-in.js';

const ALL = ['profile.read', 'posts.read', 'posts.write', 'analytics.read'];

onOneEngine('Scopes that a later decision or the operator took away', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let tokens: TokenBody;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    tokens = await consent({ scopes: ALL });
  });

  /** The user allows `scopes` of the requested ones. Returns the tokens. */
  async function consent({
    scopes,
    requested = ALL,
  }: {
    scopes: string[];
    requested?: string[];
  }): Promise<TokenBody> {
    // A phone gets one message a minute.
    app().clock.advance(61_000);
    const parameters = { scope: requested.join(' '), scopes };
    const code = await newCode(app(), client, user, parameters);
    return json<TokenBody>(await exchange(app(), client, code));
  }

  const publish = async ({ access_token }: TokenBody): Promise<number> =>
    (await app().call(access_token, 'POST', '/posts', { content: 'Hi' })).status;
  const readMe = async ({ access_token }: TokenBody): Promise<number> =>
    (await app().call(access_token, 'GET', '/me')).status;

  const refresh = ({ refresh_token }: TokenBody, scope?: string): Promise<Response> =>
    sendRefresh(app(), client, refresh_token, { scope });

  async function introspect(token: string): Promise<unknown> {
    const response = await sendForm(app(), '/oauth/introspect', client, { token });
    return (await json<{ scope?: string }>(response)).scope;
  }

  it('O40 O94 end at once in the earlier tokens, when the user allows fewer of them in a second decision', async () => {
    expect(await publish(tokens)).toBe(201);
    await consent({ scopes: ['profile.read'] });
    expect(await publish(tokens)).toBe(403);
    expect(await readMe(tokens)).toBe(200);
    expect(await introspect(tokens.access_token)).toBe('profile.read');
    const refreshed = await json<TokenBody>(await refresh(tokens));
    expect(refreshed.scope).toBe('profile.read');
    expect(await publish(refreshed)).toBe(403);
  });

  it('do not include scopes that the second request did not name', async () => {
    await consent({ requested: ['profile.read', 'posts.read'], scopes: ['profile.read'] });
    expect(await publish(tokens)).toBe(201);
    expect(await introspect(tokens.access_token)).toBe('profile.read posts.write analytics.read');
  });

  it('end the earlier grant if none is left', async () => {
    await consent({ scopes: ['posts.write'], requested: ['posts.write'] });
    const narrow = await consent({ scopes: ['profile.read'], requested: ['profile.read'] });
    await consent({ scopes: ['posts.read'], requested: ['profile.read', 'posts.read'] });
    expect(await readMe(narrow)).toBe(401);
    await expectTokenError(await refresh(narrow), 'invalid_grant');
  });

  it('O40 stay with Cancel and with Allow without a scope, and the page says so', async () => {
    for (const decision of ['deny', 'approve']) {
      app().clock.advance(61_000);
      const visitor = new Browser(app());
      const page = await visitor.signIn(
        authorizeLink(client, { scope: ALL.join(' '), prompt: 'consent' }),
        user,
      );
      expect(page.html).toContain('If you choose Cancel or clear everything, nothing changes.');
      await visitor.submit(page, DECISION, { decision, scope: [] });
    }
    expect(await publish(tokens)).toBe(201);
  });

  it('stay with other users and other apps', async () => {
    const otherUser = await app().addUser();
    const code = await newCode(app(), client, otherUser);
    const others = await json<TokenBody>(await exchange(app(), client, code));
    await consent({ scopes: ['profile.read'] });
    expect(await publish(others)).toBe(201);
  });

  it('O95 may be named in a refresh, which issues those that are left', async () => {
    await consent({ scopes: ['profile.read', 'posts.read'] });
    const refreshed = await json<TokenBody>(await refresh(tokens, 'posts.write profile.read'));
    expect(refreshed.scope).toBe('profile.read');
    await expectTokenError(await refresh(refreshed, 'posts.write'), 'invalid_grant');
    await expectTokenError(await refresh(refreshed, 'unknown.scope'), 'invalid_scope');
    expect((await refresh(refreshed)).status).toBe(200);
  });

  it('O94 end at once when the operator takes them from the app, and return with it', async () => {
    const apps = app().service(AppsService);
    await apps.update(client.clientId, { scope: 'profile.read posts.read' }, { actor: 'test' });
    expect(await publish(tokens)).toBe(403);
    expect(await introspect(tokens.access_token)).toBe('profile.read posts.read');
    const refreshed = await json<TokenBody>(await refresh(tokens));
    expect(refreshed.scope).toBe('profile.read posts.read');
    await apps.update(client.clientId, { scope: ALL.join(' ') }, { actor: 'test' });
    expect(await publish(tokens)).toBe(201);
  });

  it('are missing from the list of connected apps', async () => {
    await consent({ scopes: ['profile.read'] });
    app().clock.advance(61_000);
    const { html } = await new Browser(app()).signInToAccount(user);
    expect(html).toContain('See your name, photo, karma and neighbourhood');
    expect(html).not.toContain('Publish and delete posts');
  });
});

onOneServer('Scopes that are withdrawn while tokens are issued', (database) => {
  const app = useTestApp(database);

  it.each(['refresh', 'exchange'] as const)(
    'O59 O94 are not in the response of the %s',
    async (request) => {
      const client = await app().addClient();
      const code = await newCode(app(), client);
      const first =
        request === 'refresh' ? await json<TokenBody>(await exchange(app(), client, code)) : null;
      const holder = await mysql.createConnection(database.url);
      try {
        await holder.beginTransaction();
        await holder.query(
          `UPDATE grants SET withdrawn_scope = 'posts.write' WHERE client_id = ?`,
          [client.clientId],
        );
        const response = first
          ? sendRefresh(app(), client, first.refresh_token)
          : exchange(app(), client, code);
        // The request has read the grant, and waits for its lock.
        await sleep(500);
        await holder.commit();
        expect((await json<TokenBody>(await response)).scope).toBe(
          'profile.read posts.read analytics.read',
        );
      } finally {
        holder.destroy();
      }
    },
  );
});
