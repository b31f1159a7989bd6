import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import { Grant, RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { addMilliseconds, MINUTE, HOUR, DAY } from '../../src/platform/clock.js';
import { type Page, Browser } from '../support/browser.js';
import {
  authorizeLink,
  exchange,
  redirectParameters,
  isTokenAccepted,
  sendRefresh,
  approve,
  sendForm,
} from '../support/oauth-flow.js';
import { explainQuery, fullScansOf } from '../support/queries.js';
import { onOneEngine } from '../support/database.js';
import { expectPage, expectTokenError, json, type TokenBody } from '../support/responses.js';
import { statementsWithoutBackground, type TestClient, useTestApp } from '../support/test-app.js';
import { DECISION } from '../support/sign-in.js';

const APPS = '/account/apps';
const REVOKE = '/account/apps/revoke';
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
    const done = await owner.allow(consent, client.scopes);
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

  it('O146 shows the dates of the first and the newest grant and of the last use, and the number of grants', async () => {
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
      /Granted 21 November 2026 at \d\d:\d\d UTC Last granted 26 November 2026 at \d\d:\d\d UTC Last used 25 November 2026 at \d\d:\d\d UTC Connections 4 Granted in the last 7 days Disconnect/,
    );
    expect(rows.get(store.clientId)).toMatch(
      /Granted 21 November 2026 at \d\d:\d\d UTC Last granted 25 November 2026 at \d\d:\d\d UTC Last used Not used yet Connections 2 Granted in the last 7 days Disconnect/,
    );
  });

  it('O146 marks an app for seven days after each consent', async () => {
    const mark = 'Granted in the last 7 days';
    const week = 7 * DAY;
    for (let consent = 1; consent <= 2; consent += 1) {
      await app().accessToken(user, garden);
      app().clock.advance(week - 1);
      const marked = await visitor.signInToAccount(user);
      expect(rowsOf(marked).get(garden.clientId)).toContain(mark);
      expect(marked.html).toContain('disconnect all apps” below');
      app().clock.advance(1);
      expect((await visitor.open(APPS)).html).not.toContain(mark);
    }
    const row = rowsOf(await visitor.open(APPS)).get(garden.clientId);
    expect(row).toMatch(/Last granted 28 November 2026 .* Connections 2/);
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
    expect(done.html).toContain('Garden Share no longer has access.');
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
    expect(done.html).toContain('Garden Share no longer has access.');
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
    const selected = again.html.match(/name="scope" value="[^"]*" checked/g);
    expect(selected).toHaveLength(garden.scopes.length);
  });

  it('O146 loads the list with three statements for any number of apps, without a write', async () => {
    await visitor.signInToAccount(user);
    const counts = [];
    for (const addedApps of [1, 10]) {
      for (let number = 1; number <= addedApps; number += 1)
        await app().accessToken(user, await app().addClient());
      const statements = await statementsWithoutBackground(app(), () => visitor.open(APPS));
      expect(statements.filter((statement) => !/^\s*SELECT/i.test(statement))).toEqual([]);
      counts.push(statements.length);
    }
    expect(counts).toEqual([3, 3]);
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

  const grants = (): Promise<Grant[]> =>
    app().dataSource.manager.find(Grant, { where: { userId: user.id }, order: { id: 'ASC' } });

  const countRevocations = (): Promise<number> =>
    app().dataSource.manager.countBy(AuditEvent, { action: 'grant.revoked', actor: user.id });

  const isListed = ({ html }: Page): boolean => html.includes(`/account/apps/${garden.clientId}"`);

  /** Asserts that the page lists the app for this time, to the millisecond, and not any more after it. */
  async function expectListedFor(milliseconds: number): Promise<void> {
    app().clock.advance(milliseconds - 1);
    expect(isListed(await visitor.signInToAccount(user))).toBe(true);
    app().clock.advance(1);
    expect(isListed(await visitor.open(APPS))).toBe(false);
  }

  const consumeRefreshTokens = async (): Promise<void> => {
    const [{ id: grantId } = { id: '' }] = await grants();
    await app().dataSource.manager.update(RefreshToken, { grantId }, { consumedAt: new Date() });
  };

  it('O146 lists an app that has only a code until the code expires', async () => {
    await approve(app(), user, garden);
    await expectListedFor(5 * MINUTE);
  });

  it('O146 lists an app until its unused refresh token expires', async () => {
    await app().accessToken(user, garden);
    await expectListedFor(30 * DAY);
  });

  it('O146 lists an app with a used refresh token until its access token expires', async () => {
    await app().accessToken(user, garden);
    await consumeRefreshTokens();
    await expectListedFor(HOUR);
  });

  it('O146 hides an app that revoked its only valid token', async () => {
    const token = await app().accessToken(user, garden);
    await consumeRefreshTokens();
    expect(isListed(await visitor.signInToAccount(user))).toBe(true);
    expect((await sendForm(app(), '/oauth/revoke', garden, { token })).status).toBe(200);
    expect(isListed(await visitor.open(APPS))).toBe(false);
    expect((await visitor.open(`${APPS}/${garden.clientId}`)).status).toBe(404);
  });

  it('O146 hides a scope of expired access', async () => {
    await app().accessToken(user, garden, ['posts.write']);
    app().clock.advance(30 * DAY);
    await app().accessToken(user, garden, ['profile.read']);
    const page = await visitor.signInToAccount(user);
    expect(isListed(page)).toBe(true);
    expect(page.html).not.toContain('Publish and delete posts');
  });

  it('O146 revokes every grant that was not revoked yet, and names only the listed apps', async () => {
    const expired = await app().addClient({ name: 'Long Gone' });
    await app().accessToken(user, expired);
    await app().accessToken(user, garden);
    app().clock.advance(30 * DAY);
    await app().accessToken(user, garden);
    const page = await visitor.signInToAccount(user);
    const done = await visitor.disconnectBy(page, { all: '1' });
    expect(done.html).toContain('Garden Share no longer has access.');
    expect(done.html).not.toContain('Long Gone');
    const now = app().clock.now();
    expect((await grants()).map(({ revokedAt }) => revokedAt)).toEqual([now, now, now]);
  });

  it('O144 revokes 20 grants with as many statements as it takes for 2, and records an event for each grant', async () => {
    await visitor.signInToAccount(user);
    const statementCounts: number[] = [];
    for (const grantCount of [2, 20]) {
      for (let number = 1; number <= grantCount; number += 1) await app().accessToken(user, garden);
      const page = await visitor.open(APPS);
      const statements = await app().statementsOf(() =>
        visitor.disconnectBy(page, { client_id: garden.clientId }),
      );
      statementCounts.push(statements.filter((each) => /grants|audit_events/.test(each)).length);
    }
    expect(statementCounts[1]).toBe(statementCounts[0]);
    const all = await grants();
    expect(all).toHaveLength(22);
    const byUser = { action: 'grant.revoked', actor: user.id, reason: 'by the user' };
    const events = await app().dataSource.manager.findBy(AuditEvent, byUser);
    expect(events.map(({ subject }) => subject).toSorted()).toEqual(all.map(({ id }) => id));
    const details = { clientId: garden.clientId, userId: user.id };
    for (const event of events) expect(event).toMatchObject({ details });
  });

  it('O144 revokes more grants than fit into one statement', async () => {
    const now = app().clock.now();
    const rows = Array.from({ length: 1201 }, (_, number) => ({
      id: `grt_${user.id.slice(-20)}${String(number).padStart(5, '0')}`,
      userId: user.id,
      clientId: garden.clientId,
      scope: 'posts.read',
      requestedScope: 'posts.read',
      createdAt: now,
      expiresAt: addMilliseconds(now, DAY),
    }));
    for (let from = 0; from < rows.length; from += 500)
      await app().dataSource.manager.insert(Grant, rows.slice(from, from + 500));
    const token = await app().accessToken(user, garden);
    const page = await visitor.signInToAccount(user);
    await visitor.disconnectBy(page, { all: '1' });
    expect((await grants()).filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
    expect(await countRevocations()).toBe(1202);
    expect((await app().call(token, 'GET', '/me')).status).toBe(401);
  });

  it('O146 reports the removal in one of two concurrent responses and records one event for each grant', async () => {
    for (let number = 1; number <= 3; number += 1) await app().accessToken(user, garden);
    const page = await visitor.signInToAccount(user);
    const remove = (): Promise<Page> => visitor.disconnectBy(page, { client_id: garden.clientId });
    const pages = await Promise.all([remove(), remove()]);
    const confirmations = pages.filter(({ html }) =>
      html.includes('Garden Share no longer has access.'),
    );
    expect(confirmations).toHaveLength(1);
    expect(await countRevocations()).toBe(3);
  });
});
