import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { addMilliseconds } from '../../src/platform/clock.js';
import { Grant, RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { approve, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const APPS = '/account/apps';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

onOneEngine('Connected apps: valid access', (database) => {
  const app = useTestApp(database);
  let user: UserWithPhone;
  let visitor: Browser;
  let garden: TestClient;

  beforeEach(async () => {
    user = await app().addUser();
    visitor = new Browser(app());
    garden = await app().addClient();
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
    expect(done.html).toContain('\u2068Garden Share\u2069 no longer has access.');
    expect(done.html).not.toContain('Long Gone');
    const now = app().clock.now();
    expect((await grants()).map(({ revokedAt }) => revokedAt)).toEqual([now, now, now]);
  });

  it('O144 revokes 40 grants with as many statements as it takes for 2, and records an event for each grant', async () => {
    await visitor.signInToAccount(user);
    const statementCounts: number[] = [];
    for (const grantCount of [2, 40]) {
      for (let number = 1; number <= grantCount; number += 1) await app().accessToken(user, garden);
      const page = await visitor.open(APPS);
      const statements = await app().statementsOf(() =>
        visitor.disconnectBy(page, { client_id: garden.clientId }),
      );
      statementCounts.push(statements.filter((each) => /grants|audit_events/.test(each)).length);
    }
    expect(statementCounts[1]).toBe(statementCounts[0]);
    const all = await grants();
    expect(all).toHaveLength(42);
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
      html.includes('\u2068Garden Share\u2069 no longer has access.'),
    );
    expect(confirmations).toHaveLength(1);
    expect(await countRevocations()).toBe(3);
  });
});
