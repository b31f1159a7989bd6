import { addMilliseconds } from '../../src/platform/clock.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import {
  authorizeLink,
  exchange,
  redirectParameters,
  isTokenAccepted,
  sendRefresh,
} from '../support/oauth-flow.js';
import { explainQuery, fullScansOf } from '../support/queries.js';
import { onOneEngine } from '../support/database.js';
import { expectPage, expectTokenError, json, type TokenBody } from '../support/responses.js';
import { statementsWithoutBackground, type TestClient, useTestApp } from '../support/test-app.js';
import { DECISION } from '../support/sign-in.js';

const APPS = '/account/apps';
const REVOKE = '/account/apps/revoke';
const DAY = 24 * 60 * 60_000;
const INDEXES = [
  'ix_grants_user_id',
  'ix_refresh_tokens_grant_id',
  'ix_access_tokens_grant_id',
  'ix_authorization_codes_grant_id',
];

/** Returns the text of each row of the list by the client id of its app. */
function rowsOf({ html }: Page): Map<string, string> {
  const rows = [...html.matchAll(/<li>\s*<div class="app small">.*?<\/a>\s*<\/li>/gs)];
  return new Map(
    rows.map(([row]) => [
      /href="\/account\/apps\/([^"]*)"/.exec(row)?.[1] ?? '',
      row
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ]),
  );
}

onOneEngine('Connected apps', (database) => {
  const app = useTestApp(database);
  let user: UserWithPhone;
  let visitor: Browser;
  let garden: TestClient;
  let store: TestClient;

  beforeEach(async () => {
    app().clock.set('2026-11-21T09:30:00.000Z');
    user = await app().addUser({ name: 'Ana Lee' });
    visitor = new Browser(app());
    garden = await app().addClient({ name: 'Garden Share' });
    store = await app().addClient({ name: 'Corner Store' });
  });

  /** Returns a code that the user approves in their signed-in browser. */
  async function codeFor(client: TestClient, owner: Browser): Promise<string> {
    const consent = await owner.open(authorizeLink(client));
    const fields = { scope: [...client.scopes], decision: 'approve' };
    const done = await owner.submit(consent, DECISION, fields);
    return redirectParameters(done).get('code') ?? '';
  }

  async function tokensOf(client: TestClient, owner = visitor): Promise<TokenBody> {
    return json<TokenBody>(await exchange(app(), client, await codeFor(client, owner)));
  }

  const isAccepted = (token: string): Promise<boolean> => isTokenAccepted(app(), token);

  it('O146 lists each app once, sorted by name, with the scopes of all its grants', async () => {
    await app().accessToken(user, garden, ['posts.read']);
    await app().accessToken(user, garden, ['profile.read']);
    await app().accessToken(user, store, ['analytics.read']);
    await app().accessToken(await app().addUser(), await app().addClient({ name: 'Not mine' }));
    const page = await visitor.signInToAccount(user);
    expectPage(page, 200);
    expect(page.html).toContain('Ana Lee');
    expect(page.html).not.toContain(user.phone);
    expect([...rowsOf(page).keys()]).toEqual([store.clientId, garden.clientId]);
    const row = rowsOf(page).get(garden.clientId) ?? '';
    expect(row).toMatch(/^G Garden Share Not verified See your name.* Read your own posts/);
    expect(row).not.toContain('Publish');
    expect(row).not.toContain('likes');
  });

  it('O146 shows the date of the first grant and of the last use of any grant', async () => {
    const use = async (token: string): Promise<void> => {
      expect((await app().call(token, 'GET', '/posts')).status).toBe(200);
      await app().service(GrantUsageRecorder).flush();
    };
    await use(await app().accessToken(user, garden, ['profile.read', 'posts.read']));
    await app().accessToken(user, store, ['posts.read']);
    app().clock.advance(4 * DAY);
    await use(await app().accessToken(user, garden, ['posts.read']));
    await app().accessToken(user, store, ['profile.read']);
    app().clock.advance(DAY);
    for (const scope of ['profile.read', 'analytics.read'] as const)
      await app().accessToken(user, garden, [scope]);
    const rows = rowsOf(await visitor.signInToAccount(user));
    expect(rows.get(garden.clientId)).toMatch(
      /Granted 21 November 2026 at \d\d:\d\d UTC Last used 25 November 2026 at \d\d:\d\d UTC Disconnect/,
    );
    expect(rows.get(store.clientId)).toMatch(
      /Granted 21 November 2026 at \d\d:\d\d UTC Last used Not used yet Disconnect/,
    );
  });

  it('O146 ignores grants that expired or were revoked', async () => {
    await app().accessToken(user, garden);
    const { manager } = app().dataSource;
    const expiresAt = addMilliseconds(app().clock.now(), DAY);
    await manager.update(Grant, { clientId: garden.clientId }, { expiresAt });
    app().clock.advance(DAY - 1);
    expect([...rowsOf(await visitor.signInToAccount(user)).keys()]).toEqual([garden.clientId]);
    app().clock.advance(1);
    expect((await visitor.open(APPS)).html).toContain('No app has access to your account.');
    await app().accessToken(user, store);
    const revokedAt = app().clock.now();
    await manager.update(Grant, { clientId: store.clientId }, { revokedAt });
    expect((await visitor.open(APPS)).html).toContain('No app has access to your account.');
  });

  it('O146 lists an app that the operator disabled and lets the user remove it', async () => {
    await app().accessToken(user, garden);
    const apps = app().service(AppsService);
    await apps.changeStatus(garden.clientId, 'disabled', { actor: 'test' });
    await visitor.signInToAccount(user);
    await visitor.disconnect(garden.clientId);
    expect(await app().dataSource.getRepository(Grant).findBy({ userId: user.id })).toEqual([
      expect.objectContaining({ revokedAt: app().clock.now() }),
    ]);
  });

  it('O146 revokes every grant of a removed app and no grant of another app or user', async () => {
    await visitor.signInToAccount(user);
    const neighbour = new Browser(app());
    await neighbour.signInToAccount(await app().addUser());
    const first = await tokensOf(garden);
    const second = await tokensOf(garden);
    const otherTokens = await tokensOf(store);
    const neighbours = await tokensOf(garden, neighbour);
    const done = await visitor.disconnect(garden.clientId);
    expectPage(done, 200);
    expect(done.html).toContain('\u2068Garden Share\u2069 no longer has access.');
    expect([...rowsOf(done).keys()]).toEqual([store.clientId]);
    expect(await isAccepted(first.access_token)).toBe(false);
    expect(await isAccepted(second.access_token)).toBe(false);
    expect(await isAccepted(otherTokens.access_token)).toBe(true);
    expect(await isAccepted(neighbours.access_token)).toBe(true);
  });

  it('O104 rejects the next refresh and the unused code of a removed app', async () => {
    await visitor.signInToAccount(user);
    const tokens = await tokensOf(garden);
    const code = await codeFor(garden, visitor);
    await visitor.disconnect(garden.clientId);
    await expectTokenError(await sendRefresh(app(), garden, tokens.refresh_token), 'invalid_grant');
    await expectTokenError(await exchange(app(), garden, code), 'invalid_grant');
    expect(await isAccepted(tokens.access_token)).toBe(false);
  });

  it('O146 disconnects every app with "Disconnect all apps", also one that was connected later', async () => {
    const tokens = [await app().accessToken(user, garden), await app().accessToken(user, store)];
    const page = await visitor.signInToAccount(user);
    const late = await app().accessToken(user, await app().addClient());
    const done = await visitor.submit(page, REVOKE, { all: '1' });
    expect(done.html).toContain('3 apps no longer have access.');
    expect(done.html).toContain('No app has access to your account.');
    for (const token of [...tokens, late]) expect(await isAccepted(token)).toBe(false);
  });

  it('O146 disconnects nothing if the form names no app', async () => {
    const token = await app().accessToken(user, garden);
    await visitor.signInToAccount(user);
    const page = await visitor.open(`${APPS}/${garden.clientId}`);
    for (const fields of [
      { client_id: '' },
      { client_id: 'all' },
      { client_id: [garden.clientId, store.clientId] },
    ])
      expectPage(await visitor.submit(page, REVOKE, fields), 400);
    expect(await isAccepted(token)).toBe(true);
  });

  it('O146 shows only one app on the page of that app and removes it with one button', async () => {
    await app().accessToken(user, store);
    const token = await app().accessToken(user, garden, ['posts.write']);
    const address = `${APPS}/${garden.clientId}`;
    const page = await visitor.signInToAccount(user, address);
    expectPage(page, 200);
    expect(page.html).toContain('Garden Share');
    expect(page.html).toContain('Publish and delete posts');
    expect(page.html).not.toContain('Corner Store');
    const done = await visitor.submit(page, REVOKE);
    expect(done.html).toContain('\u2068Garden Share\u2069 no longer has access.');
    expect(await isAccepted(token)).toBe(false);
    expectPage(await visitor.open(address), 404);
  });

  it('O146 returns 404 with a link to the list for an app that is unknown or not connected', async () => {
    await visitor.signInToAccount(user);
    const unknown = 'svc_app_01hzzzzzzzzzzzzzzzzzzzzzzz';
    for (const id of [garden.clientId, unknown, garden.clientId.toUpperCase(), 'x', '%00']) {
      const page = await visitor.open(`${APPS}/${id}`);
      expectPage(page, 404);
      expect(page.html).toContain('href="/account/apps"');
      expect(page.html).not.toContain('Garden Share');
    }
  });

  it('O40 selects every scope again after the access of the app was removed', async () => {
    const first = await visitor.signIn(authorizeLink(garden), user);
    const fields = { scope: ['posts.read'], decision: 'approve' };
    await visitor.submit(first, DECISION, fields);
    await visitor.disconnect(garden.clientId);
    const again = await visitor.open(authorizeLink(garden));
    expect(again.html.match(/name="scope" value="[^"]*" checked/g)).toHaveLength(4);
  });

  it('O146 loads the list with two statements for any number of apps, without a write', async () => {
    await visitor.signInToAccount(user);
    const counts = [];
    for (const addedApps of [1, 10]) {
      for (let number = 1; number <= addedApps; number += 1)
        await app().accessToken(user, await app().addClient());
      const statements = await statementsWithoutBackground(app(), () => visitor.open(APPS));
      expect(statements.filter((statement) => !/^\s*SELECT/i.test(statement))).toEqual([]);
      counts.push(statements.length);
    }
    expect(counts).toEqual([2, 2]);
  });

  it('O146 loads the list by indexes, without a scan', async () => {
    await visitor.signInToAccount(user);
    const statements = await statementsWithoutBackground(app(), () => visitor.open(APPS));
    const query = statements.find((statement) => /FROM grants\s/.test(statement)) ?? '';
    expect(query).not.toBe('');
    const parameters = [user.id, ...Array<string>(4).fill('2026-01-01 00:00:00.000')];
    const { dataSource } = app();
    const plan = await explainQuery(database, dataSource, query, parameters);
    for (const index of INDEXES) expect(JSON.stringify(plan)).toContain(index);
    expect(await fullScansOf(database, dataSource, query, parameters)).toEqual([]);
  });
});
