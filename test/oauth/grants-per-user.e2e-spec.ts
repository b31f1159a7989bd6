import { In, IsNull } from 'typeorm';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { MINUTE, SECOND } from '../../src/platform/clock.js';
import { Browser, type Page } from '../support/browser.js';
import { concurrently } from '../support/cluster.js';
import { onEachEngine, onOneEngine } from '../support/database.js';
import type { Tokens } from '../support/grant.js';
import {
  authorizeLink,
  exchange,
  isTokenAccepted,
  redirectParameters,
  sendRefresh,
} from '../support/oauth-flow.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import {
  DEFAULT_LIMITS,
  rateLimits,
  type TestApp,
  type TestClient,
  UNLIMITED,
  useTestApp,
} from '../support/test-app.js';

const NAME = 'grants-per-user';

/** A browser in which a user allows apps again and again, each time a second later. */
class Member {
  private constructor(
    readonly app: TestApp,
    readonly user: UserWithPhone,
    private readonly visitor: Browser,
  ) {}

  static async signIn(app: TestApp, client: TestClient): Promise<Member> {
    const user = await app.addUser();
    const visitor = new Browser(app);
    await visitor.signIn(authorizeLink(client), user);
    return new Member(app, user, visitor);
  }

  consentPage(client: TestClient): Promise<Page> {
    return this.visitor.open(authorizeLink(client, { prompt: 'consent' }));
  }

  /** Returns the code. */
  async allow(client: TestClient, page: Page): Promise<string> {
    const redirect = await this.visitor.allow(page, client.scopes);
    return redirectParameters(redirect).get('code') ?? '';
  }

  async connect(client: TestClient): Promise<Tokens> {
    this.app.clock.advance(SECOND);
    const code = await this.allow(client, await this.consentPage(client));
    return json<TokenBody>(await exchange(this.app, client, code));
  }

  async connectTimes(client: TestClient, times: number): Promise<Tokens[]> {
    const connections: Tokens[] = [];
    for (let number = 1; number <= times; number += 1) connections.push(await this.connect(client));
    return connections;
  }

  /** The ids of the grants to the app that are not revoked, oldest first. */
  async grants({ clientId }: TestClient): Promise<string[]> {
    const where = { clientId, userId: this.user.id, revokedAt: IsNull() };
    const grants = await this.app.dataSource.manager.find(Grant, { where, order: { id: 'ASC' } });
    return grants.map(({ id }) => id);
  }

  /** Which of the connections are accepted by the API. */
  accepted(connections: readonly Tokens[]): Promise<boolean[]> {
    return Promise.all(
      connections.map(({ access_token }) => isTokenAccepted(this.app, access_token)),
    );
  }
}

onOneEngine('Grants of a user to an app, by default', (database) => {
  const app = useTestApp(database, { ...DEFAULT_LIMITS });

  it('O170 are at most 20: a further consent ends the oldest', async () => {
    const client = await app().addClient();
    const member = await Member.signIn(app(), client);
    const connections = await member.connectTimes(client, 20);
    expect(await member.accepted(connections)).toEqual(Array<boolean>(20).fill(true));
    const [oldest = ''] = await member.grants(client);
    await member.connect(client);
    expect(await member.accepted(connections)).toEqual([false, ...Array<boolean>(19).fill(true)]);
    const { refresh_token = '' } = connections[0] ?? {};
    await expectTokenError(await sendRefresh(app(), client, refresh_token), 'invalid_grant');
    expect(await member.grants(client)).not.toContain(oldest);
  });
});

const LIMIT = 3;

onEachEngine('Limit of grants of a user to an app', (database) => {
  const app = useTestApp(database, rateLimits({ [NAME]: LIMIT }));
  let client: TestClient;
  let member: Member;
  beforeEach(async () => {
    app().clock.advance(MINUTE);
    client = await app().addClient();
    member = await Member.signIn(app(), client);
  });

  const events = (action: AuditEvent['action']): Promise<AuditEvent[]> => {
    const where = { action, userId: member.user.id };
    return app().dataSource.manager.find(AuditEvent, { where, order: { subject: 'ASC' } });
  };

  it('O144 O170 records which grant a consent ended, with its app, user and request', async () => {
    await member.connectTimes(client, LIMIT);
    const [oldest = ''] = await member.grants(client);
    expect(await events('grant.superseded')).toEqual([]);
    await member.connect(client);
    const { clientId } = client;
    const [superseded, ...others] = await events('grant.superseded');
    expect(others).toEqual([]);
    expect(superseded).toMatchObject({
      subject: oldest,
      actor: 'service',
      clientId,
      details: { clientId, userId: member.user.id },
      reason: `more than ${LIMIT} grants to the app (${NAME})`,
    });
    const created = (await events('grant.created')).at(-1);
    expect(superseded?.requestId).toBe(created?.requestId);
    expect(await events('grant.revoked')).toEqual([]);
  });

  it('O170 counts each app and each user separately', async () => {
    const otherClient = await app().addClient();
    const otherMember = await Member.signIn(app(), client);
    const kept = [...(await member.connectTimes(client, LIMIT))];
    await member.connectTimes(otherClient, LIMIT + 1);
    await otherMember.connectTimes(client, LIMIT + 1);
    expect(await member.accepted(kept)).toEqual(Array<boolean>(LIMIT).fill(true));
  });

  it('O170 does not count grants that are no longer in use', async () => {
    const first = await member.connect(client);
    for (let number = 1; number < LIMIT; number += 1)
      await member.allow(client, await member.consentPage(client));
    // Their codes expire, so nothing can use these grants.
    app().clock.advance(5 * MINUTE);
    await member.connectTimes(client, LIMIT - 1);
    expect(await member.accepted([first])).toEqual([true]);
    await member.connect(client);
    expect(await member.accepted([first])).toEqual([false]);
  });

  it('O170 ends all that are too many, such as those of version 1.1', async () => {
    const connections = await member.connectTimes(client, LIMIT + 2);
    // Version 1.1 has no limit, so it leaves these.
    const { manager } = app().dataSource;
    const superseded = await events('grant.superseded');
    expect(superseded).toHaveLength(2);
    const ids = superseded.map(({ subject }) => subject);
    await manager.update(Grant, { id: In(ids) }, { revokedAt: null });
    expect(await member.grants(client)).toHaveLength(LIMIT + 2);
    await member.connect(client);
    expect(await member.grants(client)).toHaveLength(LIMIT);
    expect(await member.accepted(connections)).toEqual([false, false, false, true, true]);
  });

  it('O170 is exact for concurrent consents', async () => {
    const pages: Page[] = [];
    for (let number = 1; number <= 3 * LIMIT; number += 1)
      pages.push(await member.consentPage(client));
    const codes = await concurrently(pages.length, (index) =>
      member.allow(client, pages[index] as Page),
    );
    expect(new Set(codes).size).toBe(pages.length);
    expect(await member.grants(client)).toHaveLength(LIMIT);
    expect(await events('grant.superseded')).toHaveLength(2 * LIMIT);
  });
});

onOneEngine('Limit of grants of a user to an app, switched off', (database) => {
  const app = useTestApp(database, rateLimits({ [NAME]: UNLIMITED }));

  it('O170 allows any number', async () => {
    const client = await app().addClient();
    const member = await Member.signIn(app(), client);
    await member.connectTimes(client, 22);
    expect(await member.grants(client)).toHaveLength(22);
  });
});
