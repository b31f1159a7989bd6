import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { User } from '../../src/modules/users/user.entity.js';
import { TrustedDevice } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page } from '../support/browser.js';
import { runDoctor, SHORT_REQUESTS } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { useFolder } from '../support/folder.js';
import { auditTrail } from '../support/logs.js';
import { authorizeLink, isTokenAccepted } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { expectConsentPage, submitPhone, VERIFY } from '../support/sign-in.js';
import type { TestClient } from '../support/test-app.js';

const CODE = '424242';
const ADD = ['user', 'add', '--test', '--code', CODE];
const CREATE = [
  ...['app', 'create', '--test', '--name', 'Garden Share'],
  ...['--redirect-uri', 'https://garden.example/callback', '--scope', 'profile.read posts.write'],
];

onOneEngine('Commands of test mode', (database) => {
  const { app, cli } = useCommands(database, SHORT_REQUESTS);
  const folder = useFolder();
  const stored = (id: string): Promise<User | null> =>
    app().dataSource.manager.findOneBy(User, { id });

  async function enterCode(
    client: TestClient,
    phone: string,
    visitor = new Browser(app()),
  ): Promise<Page> {
    const codePage = await submitPhone(visitor, authorizeLink(client), phone);
    return visitor.submit(codePage, VERIFY, { code: CODE });
  }

  it('"app create --test" registers a test app with its own quota and lifetime of tokens, whatever the name of a real app', async () => {
    await app().addClient({ name: 'Garden Share' });
    const created = await cli.json<{ client_id: string }>(
      ...[...CREATE, '--limit', '3', '--access-token-seconds', '60'],
    );
    expect(created).toMatchObject({
      client_id: expect.stringMatching(/^svc_app_test_[0-9a-z]{26}$/),
      test: true,
      access_token_seconds: 60,
      limit: 3,
    });
    const { client_id: id } = created;
    expect(await cli.json('app', 'show', id)).toMatchObject({ test: true });
    expect((await cli.run('app', 'show', id)).stdout).toMatch(/^access_token_seconds +60$/m);
    expect(await cli.json('app', 'list', '--test')).toMatchObject([{ client_id: id }]);
    expect(JSON.stringify(await cli.json('app', 'list', '--no-test'))).not.toContain(id);
    const [event] = await auditTrail(app().dataSource, id);
    expect(event).toMatchObject({
      action: 'app.created',
      details: { test: true, accessTokenSeconds: 60 },
    });
    expect(await cli.json('app', 'update', id, '--name', 'Garden Shed')).toMatchObject({
      test: true,
      access_token_seconds: 60,
    });
  });

  it('"app create" refuses a lifetime for a real app, and one that is too long', async () => {
    const real = CREATE.filter((word) => word !== '--test');
    const seconds = '--access-token-seconds';
    expect(await cli.run(...real, seconds, '60')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('only with --test'),
    });
    for (const value of ['0', '3601', '1.5'])
      expect(await cli.run(...CREATE, seconds, value)).toMatchObject({ code: 2 });
  });

  it('O172 "user add --test" adds a test member with a number for fiction, and stores and records no code', async () => {
    const added = await cli.json<{ id: string }>(...ADD, '--phone', '+1 (415) 555-0123');
    expect(added).toMatchObject({ phone: '+14155550123', name: 'Test member', test: true });
    const { testCodeHash } = (await stored(added.id)) ?? {};
    expect(testCodeHash).toMatch(/^[0-9a-f]{64}$/);
    expect(await auditTrail(app().dataSource, added.id)).toMatchObject([
      { action: 'user.added', details: { test: true } },
    ]);
    const { stdout } = await cli.run('user', 'show', added.id);
    expect(stdout).toMatch(/^test +true$/m);
    expect(stdout).not.toContain(testCodeHash);
    expect((await cli.run('user', 'list')).stdout).toContain('Test member (test)');
  });

  it('O172 "user add --test" refuses other numbers without --any-number', async () => {
    const other = [...ADD, '--phone', '+14155552671'];
    expect(await cli.run(...other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('This number may belong to a person.'),
    });
    expect(await cli.json(...other, '--any-number')).toMatchObject({ test: true });
    const summaries = (await runDoctor(cli))
      .filter(({ check }) => check === 'test mode')
      .map(({ status, summary }) => `${status} ${summary}`);
    expect(summaries).toEqual([expect.stringMatching(/^warning Test apps: .*1 test member, such/)]);
  });

  it.each([
    ['a test member without a code', ['user', 'add', '--test', '--phone', '+14155550124']],
    [
      'a code of a real member',
      ['user', 'add', '--phone', '+14155550124', '--name', 'A', '--code', CODE],
    ],
    [
      'a code of five digits',
      ['user', 'add', '--test', '--phone', '+14155550124', '--code', '12345'],
    ],
    [
      'a code with letters',
      ['user', 'add', '--test', '--phone', '+14155550124', '--code', '12345a'],
    ],
    [
      '--any-number for a real member',
      ['user', 'add', '--phone', '+14155550124', '--name', 'A', '--any-number'],
    ],
  ])('"user add" refuses %s', async (_, args) => {
    expect(await cli.run(...args)).toMatchObject({ code: 2 });
    expect(await app().dataSource.manager.countBy(User, { phone: '+14155550124' })).toBe(0);
  });

  it('"user update --code" changes the code of test members only', async () => {
    const member = await app().addUser({ testCode: CODE });
    const real = await app().addUser();
    const before = await stored(member.id);
    await cli.json('user', 'update', member.id, '--code', '515151');
    expect((await stored(member.id))?.testCodeHash).not.toBe(before?.testCodeHash);
    expect(await cli.run('user', 'update', real.id, '--code', CODE)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is no test member'),
    });
    expect((await stored(real.id))?.testCodeHash).toBeNull();
  });

  it('O171 "user change-phone" gives a test member neither the number of a real member nor, without --any-number, one of a person', async () => {
    const member = await app().addUser({ testCode: CODE });
    const real = await app().addUser();
    const change = (...args: string[]) =>
      cli.run('user', 'change-phone', member.id, '--yes', ...args);
    expect(await change('--phone', '+14155552672')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--any-number'),
    });
    for (const more of [[], ['--any-number']])
      expect(await change('--phone', real.phone, '--reassign', ...more)).toMatchObject({ code: 1 });
    expect((await stored(real.id))?.phone).toBe(real.phone);
    expect(await change('--phone', '+14155552672', '--any-number')).toMatchObject({ code: 0 });
  });

  it('O171 a real member who gets the number of a test member is not opened by the code', async () => {
    const testApp = await app().addClient({ test: true });
    const realApp = await app().addClient();
    const member = await app().addUser({ testCode: CODE });
    const real = await app().addUser();
    const visitor = new Browser(app());
    expectConsentPage(await enterCode(testApp, member.phone, visitor));
    // A code that was requested before the number moves.
    const waiting = await submitPhone(visitor, authorizeLink(realApp), member.phone);
    const move = ['user', 'change-phone', real.id, '--phone', member.phone, '--reassign', '--yes'];
    expect(await cli.run(...move)).toMatchObject({ code: 0 });

    expectPage(await visitor.submit(waiting, VERIFY, { code: CODE }), 400);
    expect(visitor.cookies.has('session')).toBe(true);
    expect((await visitor.open(authorizeLink(testApp))).html).not.toContain('name="decision"');
    expect((await visitor.open(authorizeLink(realApp))).html).not.toContain('name="decision"');
    const { manager } = app().dataSource;
    expect(await manager.countBy(TrustedDevice, { phone: member.phone })).toBe(0);
    expect(await manager.countBy(SignInSession, { userId: real.id })).toBe(0);
    for (const client of [testApp, realApp]) {
      app().clock.advance(61_000);
      expectPage(await enterCode(client, member.phone), 400);
    }
  });

  it('O171 a number that is erased and added again as that of a real member is not opened by the code', async () => {
    const testApp = await app().addClient({ test: true });
    const realApp = await app().addClient();
    const member = await app().addUser({ testCode: CODE });
    const visitor = new Browser(app());
    expectConsentPage(await enterCode(testApp, member.phone, visitor));
    const token = await app().accessToken(member, testApp);
    const waiting = await submitPhone(visitor, authorizeLink(realApp), member.phone);
    await cli.json('user', 'erase', member.id, '--yes');
    const real: UserWithPhone = await app().addUser({ phone: member.phone });

    expectPage(await visitor.submit(waiting, VERIFY, { code: CODE }), 400);
    expect(await isTokenAccepted(app(), token)).toBe(false);
    expect((await visitor.open('/account/apps')).html).not.toContain(real.name);
    expectPage(await enterCode(realApp, member.phone), 400);
    expect(await app().dataSource.manager.countBy(SignInSession, { userId: real.id })).toBe(0);
  });

  it('O171 "user import" neither changes a test member nor takes its number or external id', async () => {
    const member = await app().addUser({ testCode: CODE, name: 'Tess', externalId: 'm-test' });
    const before = await stored(member.id);
    const lines = [
      `${member.phone},Tess,`,
      `${member.phone},Somebody else,m-9`,
      '+14155552673,Tess,m-test',
    ];
    for (const line of lines) {
      const path = join(folder, 'members.csv');
      await writeFile(path, `phone,name,external_id\n${line}\n`);
      for (const more of [[], ['--reassign-phones', '--yes']]) {
        const { stdout } = await cli.run('user', 'import', path, '--json', ...more);
        expect(JSON.parse(stdout)).toMatchObject({
          added: 0,
          updated: 0,
          invalid: 1,
          errors: [{ problem: expect.stringContaining(`the test member ${member.id}`) }],
        });
      }
    }
    expect(await stored(member.id)).toEqual(before);
    expect(await app().dataSource.manager.countBy(User, { phone: '+14155552673' })).toBe(0);
  });

  it('"user export" says whether the user is a test member, without the hash of the code', async () => {
    const member = await app().addUser({ testCode: CODE });
    const real = await app().addUser();
    for (const [id, test] of [
      [member.id, true],
      [real.id, false],
    ] as const) {
      const { stdout } = await cli.run('user', 'export', id);
      expect(JSON.parse(stdout)).toMatchObject({ users: [{ id, test }] });
      expect(stdout).not.toMatch(/test_?code/i);
    }
  });
});
