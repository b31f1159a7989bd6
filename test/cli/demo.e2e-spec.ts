import {
  ana,
  ben,
  DEMO_CODE,
  DEMO_CONFIDENTIAL_CLIENT_ID,
  DEMO_PUBLIC_CLIENT_ID,
  demoApps,
  DemoService,
} from '../../src/modules/demo/demo.service.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { Browser, type Page } from '../support/browser.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink, isTokenAccepted } from '../support/oauth-flow.js';
import { json } from '../support/responses.js';
import { expectConsentPage, submitPhone, VERIFY } from '../support/sign-in.js';
import { DEFAULT_LIMITS, type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const TOKEN = /^svcat_[A-Za-z0-9_-]{43}$/;

onOneEngine('Command "demo token"', (database) => {
  const { app, cli } = useCommands(database);

  it('prints a token of the demo user only on a demo database', async () => {
    const rejected = await cli.run('demo', 'token');
    expect(rejected).toMatchObject({ code: 1, stdout: '' });
    expect(rejected.stderr).toContain('This database is not a demo.');

    await app().service(DemoService).seedIfNeeded();
    const { code, stdout, stderr } = await cli.run('demo', 'token');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd()).toMatch(TOKEN);
    const me = await app().call(stdout.trimEnd(), 'GET', '/me');
    expect(await json(me)).toMatchObject({ name: 'Ana Lee' });
    expect(await cli.json('demo', 'token')).toEqual({
      access_token: expect.stringMatching(TOKEN),
      token_type: 'Bearer',
    });
  });

  it('uses another app than the example, so that they share no grant', async () => {
    await cli.run('demo', 'token');
    const grants = await app().dataSource.manager.find(Grant);
    expect(new Set(grants.map(({ clientId }) => clientId))).toEqual(
      new Set([DEMO_CONFIDENTIAL_CLIENT_ID]),
    );
  });
});

const author = { actor: 'test' };
const OLD_IDS = [1, 2, 3].map((number) => `svc_app_${String(number).padStart(26, '0')}`);

/** Seeds apps and users as 1.1 did, without posts. */
async function seedLike11(app: TestApp): Promise<TestClient[]> {
  const clients: TestClient[] = [];
  for (const [index, registration] of demoApps(app.config).entries())
    clients.push(await app.addClient({ ...registration, clientId: OLD_IDS[index], test: false }));
  for (const user of [ana, ben]) await app.service(UsersService).add(user, author);
  return clients;
}

async function enterCode(app: TestApp, client: TestClient): Promise<Page> {
  const visitor = new Browser(app);
  const codePage = await submitPhone(visitor, authorizeLink(client), ana.phone);
  return visitor.submit(codePage, VERIFY, { code: DEMO_CODE });
}

onOneEngine('A new demo', (database) => {
  const app = useTestApp(database, { ...DEFAULT_LIMITS, DEMO: '1' });

  it('is in test mode: six sign-ins in a minute work with the fixed code, and no message is sent', async () => {
    await app().service(DemoService).seedIfNeeded();
    const apps = await app().service(AppsService).list();
    expect(apps.map(({ test }) => test)).toEqual([true, true, true]);
    for (const { clientId } of apps) expect(clientId).toMatch(/^svc_app_test_/);
    const client = apps.find(({ clientId }) => clientId === DEMO_PUBLIC_CLIENT_ID);
    for (let number = 1; number <= 6; number += 1)
      expectConsentPage(await enterCode(app(), client as TestClient));
    expect(app().sms.messages).toEqual([]);
  });
});

onOneEngine('A demo of 1.1', (database) => {
  const app = useTestApp(database, { DEMO: '1' });

  it('becomes one in test mode: earlier tokens and apps work, and the new apps are added', async () => {
    const [old] = (await seedLike11(app())) as [TestClient];
    const token = await app().accessToken(ana, old);
    const seeded = await app().service(DemoService).seedIfNeeded();

    expect(seeded?.clientSecret).toMatch(/^svc_sec_/);
    expect(await isTokenAccepted(app(), token)).toBe(true);
    const apps = await app().service(AppsService).list();
    expect(apps).toHaveLength(6);
    expect(apps.every(({ test }) => test)).toBe(true);
    expectConsentPage(await enterCode(app(), old));
    const added = apps.find(({ clientId }) => clientId === DEMO_PUBLIC_CLIENT_ID);
    expectConsentPage(await enterCode(app(), added as TestClient));
    expect(app().sms.messages).toEqual([]);

    expect(await app().service(DemoService).seedIfNeeded()).toBeUndefined();
    expect(await app().service(AppsService).list()).toHaveLength(6);
  });
});

onOneEngine('A demo of 1.1 with another user', (database) => {
  const app = useTestApp(database, { DEMO: '1' });

  it('stays as it is, because that user allows the demo apps', async () => {
    const [old] = (await seedLike11(app())) as [TestClient];
    const other = await app().addUser();
    const token = await app().accessToken(other, old);
    expect(await app().service(DemoService).seedIfNeeded()).toBeUndefined();
    expect(await isTokenAccepted(app(), token)).toBe(true);
    expect(await app().service(AppsService).list()).toHaveLength(3);
  });
});

onOneEngine('A demo of 1.1 with another app', (database) => {
  const { app, cli } = useCommands(database);

  it('stays as it is, because the demo user signs in to that app, and "demo token" works', async () => {
    await seedLike11(app());
    const client = await app().addClient();
    expect(await app().service(DemoService).seedIfNeeded()).toBeUndefined();
    const user = await app().dataSource.manager.findOneByOrFail(User, { id: ana.id });
    expect(user.testCodeHash).toBeNull();
    expectConsentPage(await new Browser(app()).signIn(authorizeLink(client), ana));
    const { stdout } = await cli.run('demo', 'token');
    expect(await isTokenAccepted(app(), stdout.trimEnd())).toBe(true);
  });
});
