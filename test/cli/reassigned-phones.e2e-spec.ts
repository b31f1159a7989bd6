import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { TrustedDevice } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { User } from '../../src/modules/users/user.entity.js';
import { UserAccess } from '../../src/modules/oauth/account/user-access.service.js';
import { ExternalIdTaken, type UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser } from '../support/browser.js';
import { SHORT_REQUESTS } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { authorizeLink, isTokenAccepted } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';

const SIGN_IN = '/oauth/authorize/sign-in';

/** NIST SP 800-63B, "Use of the Public Switched Telephone Network"; OWASP ASVS 5, 6.6.1. */
onEachEngine('A phone number that belongs to another person now', (database) => {
  const { app, cli } = useCommands(database, SHORT_REQUESTS);
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-phones-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Imports a file with the columns phone, name and external_id. */
  const importLines = async (lines: readonly string[], ...args: string[]) => {
    const path = join(folder, 'members.csv');
    await writeFile(path, ['phone,name,external_id', ...lines, ''].join('\n'));
    const { code, stdout } = await cli.run('user', 'import', path, '--json', '--yes', ...args);
    const { added, updated, invalid, errors } = JSON.parse(stdout) as Record<string, unknown>;
    return { code, added, updated, invalid, errors };
  };
  const stored = (id: string): Promise<User | null> =>
    app().dataSource.manager.findOneBy(User, { id });

  /** A member with a session, a trusted device and an app. */
  const signedIn = async (name: string, externalId: string | null = null) => {
    const user = await app().addUser({ name, externalId });
    const client = await app().addClient();
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), user);
    const token = await app().accessToken(user, client);
    app().clock.advance(61_000);
    return { user, client, visitor, token };
  };
  const access = async ({ user, token }: { user: UserWithPhone; token: string }) => {
    const { manager } = app().dataSource;
    return {
      token: await isTokenAccepted(app(), token),
      sessions: await manager.countBy(SignInSession, { userId: user.id }),
      devices: await manager.countBy(TrustedDevice, { phone: user.phone }),
    };
  };
  const NO_ACCESS = { token: false, sessions: 0, devices: 0 };
  const FULL_ACCESS = { token: true, sessions: 1, devices: 1 };

  it.each([
    ['without an external id', null, 'Eve,'],
    ['with a new external id', null, 'Eve,eve-1'],
    ['with the external id of nobody, and the same name', 'ana-1', 'Ana Lee,eve-2'],
  ])('O163 is refused %s, and changes nothing', async (_title, externalId, rest) => {
    const ana = await signedIn('Ana Lee', externalId);
    const before = await stored(ana.user.id);
    const result = await importLines([`${ana.user.phone},${rest}`]);
    expect(result).toMatchObject({
      code: 1,
      added: 0,
      updated: 0,
      invalid: 1,
      errors: [
        { line: 2, problem: expect.stringContaining(`phone belongs to ${ana.user.id}, who has`) },
      ],
    });
    expect(await stored(ana.user.id)).toEqual(before);
    expect(await access(ana)).toEqual(FULL_ACCESS);
    await app().dataSource.manager.delete(User, { id: ana.user.id });
  });

  it('O163 moves to a new account with --reassign-phones, and ends all access to the old one', async () => {
    const ana = await signedIn('Ana Lee');
    const { phone } = ana.user;
    const result = await importLines([`${phone},Eve,eve-3`], '--reassign-phones', '--reason', 'x');
    expect(result).toEqual({ code: 0, added: 1, updated: 0, invalid: 0, errors: [] });
    expect(await access(ana)).toEqual(NO_ACCESS);
    expect(await stored(ana.user.id)).toMatchObject({ phone: null, name: 'Ana Lee' });
    const eve = await app().dataSource.manager.findOneByOrFail(User, { phone });
    expect(eve).toMatchObject({ name: 'Eve', externalId: 'eve-3' });
    expect(eve.id).not.toBe(ana.user.id);
    expect(await auditTrail(app().dataSource, ana.user.id)).toContainEqual({
      action: 'user.updated',
      actor: expect.any(String),
      reason: 'x',
      details: { fields: ['phone'], givenTo: eve.id },
    });
    expect(await auditTrail(app().dataSource, eve.id)).toEqual([
      { action: 'user.added', actor: expect.any(String), reason: 'x', details: {} },
    ]);
    // The browser of the old owner starts again, and the number signs in the new owner.
    const page = await ana.visitor.signIn(authorizeLink(ana.client), { ...ana.user, phone });
    expect(page.html).toContain('Eve');
    expect(page.html).not.toContain('Ana Lee');
  });

  it('stays with its owner if the change fails halfway', async () => {
    const ana = await signedIn('Ana Lee');
    const ben = await signedIn('Ben', 'ben-3');
    await app().addUser({ externalId: 'cem-3' });
    const change = app()
      .service(UserAccess)
      .changePhone(
        ben.user.id,
        ana.user.phone,
        { actor: 'olga' },
        { reassign: true, values: { externalId: 'cem-3' } },
      );
    await expect(change).rejects.toThrow(ExternalIdTaken);
    expect(await stored(ana.user.id)).toMatchObject({ phone: ana.user.phone });
    expect([await access(ana), await access(ben)]).toEqual([FULL_ACCESS, FULL_ACCESS]);
  });

  it('O163 moves to a known member, who loses the sessions of the old number', async () => {
    const ana = await signedIn('Ana Lee', 'ana-4');
    const ben = await signedIn('Ben', 'ben-4');
    const result = await importLines([`${ana.user.phone},Benjamin,ben-4`], '--reassign-phones');
    expect(result).toMatchObject({ code: 0, added: 0, updated: 1 });
    expect([await access(ana), await access(ben)]).toEqual([NO_ACCESS, NO_ACCESS]);
    expect(await stored(ana.user.id)).toMatchObject({ phone: null });
    expect(await stored(ben.user.id)).toMatchObject({ phone: ana.user.phone, name: 'Benjamin' });
    expect(await auditTrail(app().dataSource, ben.user.id)).toContainEqual(
      expect.objectContaining({
        action: 'user.updated',
        details: { fields: ['phone', 'name'], takenFrom: ana.user.id },
      }),
    );
  });

  it('O163 is exchanged between two members in one file', async () => {
    const ana = await app().addUser({ name: 'Ana Lee', externalId: 'ana-5' });
    const ben = await app().addUser({ name: 'Ben', externalId: 'ben-5' });
    const lines = [`${ben.phone},Ana Lee,ana-5`, `${ana.phone},Ben,ben-5`];
    expect(await importLines(lines)).toMatchObject({ code: 1, invalid: 2 });
    expect(await importLines(lines, '--dry-run')).toMatchObject({ code: 1, invalid: 2 });
    expect(await importLines(lines, '--reassign-phones')).toMatchObject({ code: 0, updated: 2 });
    expect(await stored(ana.id)).toMatchObject({ phone: ben.phone });
    expect(await stored(ben.id)).toMatchObject({ phone: ana.phone });
  });

  it.each(['first', 'last'])(
    'O163 is free for another line once the line that comes %s gives it up',
    async (position) => {
      const ana = await app().addUser({ name: 'Ana Lee', externalId: `ana-${position}` });
      const ben = await app().addUser({ name: 'Ben', externalId: `ben-${position}` });
      const newPhone = `+1415555${position === 'first' ? 9006 : 9007}`;
      const lines = [`${newPhone},Ana Lee,ana-${position}`, `${ana.phone},Ben,ben-${position}`];
      const sent = position === 'first' ? lines : lines.toReversed();
      expect(await importLines(sent)).toMatchObject({ code: 0, updated: 2 });
      expect(await stored(ben.id)).toMatchObject({ phone: ana.phone });
    },
  );

  it.each(['forwards', 'backwards'])(
    'O163 moves along a chain of members, whatever the distance of their lines, and a dry run counts the same: %s',
    async (order) => {
      const isForwards = order === 'forwards';
      const idOf = (position: number): string => `${order}-${position}`;
      const [ana, ben, cem] = [
        await app().addUser({ name: 'Ana Lee', externalId: idOf(1) }),
        await app().addUser({ name: 'Ben', externalId: idOf(2) }),
        await app().addUser({ name: 'Cem', externalId: idOf(3) }),
      ];
      const prefix = isForwards ? '+1415777' : '+1415778';
      const newPhone = isForwards ? '+14155559008' : '+14155559009';
      const [first, second] = [1, 2].map((part) =>
        Array.from({ length: 600 }, (_, index) => `${prefix}${part * 1000 + index},New ${index},`),
      ) as [string[], string[]];
      const lines = [
        `${ana.phone},Ben,${idOf(2)}`,
        ...first,
        `${ben.phone},Cem,${idOf(3)}`,
        ...second,
        `${newPhone},Ana Lee,${idOf(1)}`,
      ];
      if (!isForwards) lines.reverse();
      const expected = { code: 0, added: 1200, updated: 3, invalid: 0, errors: [] };
      expect(await importLines(lines, '--dry-run')).toEqual(expected);
      expect(await stored(ben.id)).toMatchObject({ phone: ben.phone });
      expect(await importLines(lines)).toEqual(expected);
      expect(await stored(ana.id)).toMatchObject({ phone: newPhone });
      expect(await stored(ben.id)).toMatchObject({ phone: ana.phone });
      expect(await stored(cem.id)).toMatchObject({ phone: ben.phone });
    },
  );

  it('O163 matches a member by the external id, whatever the name', async () => {
    const ana = await signedIn('Ana Lee', 'ana-7');
    const result = await importLines([`${ana.user.phone},Ana Ortiz,ana-7`]);
    expect(result).toMatchObject({ code: 0, updated: 1 });
    expect(await stored(ana.user.id)).toMatchObject({ name: 'Ana Ortiz' });
    expect(await access(ana)).toEqual(FULL_ACCESS);
    const twice = ['+14155559017,A,same-7', '+14155559018,B,same-7'];
    expect(await importLines(twice)).toMatchObject({
      added: 1,
      errors: [{ line: 3, problem: 'external_id is already used on line 2.' }],
    });
  });

  describe('"user change-phone"', () => {
    it('O163 changes the number, and ends all access to the account', async () => {
      const ana = await signedIn('Ana Lee');
      const phone = '+14155559011';
      const args = ['user', 'change-phone', ana.user.id, '--phone', phone, '--yes'];
      expect(await cli.json(...args, '--reason', 'Called')).toEqual({
        id: ana.user.id,
        changed: true,
        apps: [{ client_id: ana.client.clientId, name: ana.client.name }],
        sessions: 1,
      });
      expect(await stored(ana.user.id)).toMatchObject({ phone });
      expect(await access(ana)).toEqual(NO_ACCESS);
      expect(await cli.json(...args)).toEqual({ id: ana.user.id, changed: false });
    });

    it('O163 refuses the number of another user without --reassign', async () => {
      const ana = await signedIn('Ana Lee');
      const ben = await app().addUser({ name: 'Ben' });
      const args = ['user', 'change-phone', ben.id, '--phone', ana.user.phone, '--yes'];
      const refused = await cli.run(...args);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`${ana.user.id} already has this phone number.`);
      expect(await access(ana)).toEqual(FULL_ACCESS);
      expect(await cli.json(...args, '--reassign')).toMatchObject({ changed: true });
      expect(await access(ana)).toEqual(NO_ACCESS);
      expect(await stored(ana.user.id)).toMatchObject({ phone: null });
      expect(await stored(ben.id)).toMatchObject({ phone: ana.user.phone });
    });

    it('O163 removes the number; the user can no longer sign in, but stays manageable', async () => {
      const ana = await signedIn('Ana Lee');
      const { id } = ana.user;
      await cli.json('user', 'change-phone', id, '--none', '--yes');
      expect(await cli.json('user', 'show', id)).toMatchObject({ id, phone: null });
      const page = await ana.visitor.open(authorizeLink(ana.client));
      expectPage(await ana.visitor.submit(page, SIGN_IN, { phone: ana.user.phone }), 200);
      await app().service(SmsQueue).idle();
      expect(app().sms.count(ana.user.phone)).toBe(1);
      expect(await cli.json('user', 'unlock', id)).toMatchObject({ was_locked: false });
      expect(await cli.json('user', 'revoke-all', id, '--yes')).toMatchObject({ sessions: 0 });
      const exported = await cli.run('user', 'export', id);
      expect(JSON.parse(exported.stdout)).toMatchObject({ users: [{ id, phone: null }] });
      expect((await cli.run('user', 'erase', id, '--yes')).code).toBe(0);
      expect(await stored(id)).toBeNull();
    });
  });

  it('O163 does not sign in the old owner with a password that was sent before', async () => {
    const ana = await app().addUser({ name: 'Ana Lee' });
    const client = await app().addClient();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const codePage = await visitor.submit(phonePage, SIGN_IN, { phone: ana.phone });
    const code = await app().sms.password(ana.phone);
    const eve = await app().addUser({ name: 'Eve' });
    await cli.json('user', 'change-phone', eve.id, '--phone', ana.phone, '--reassign', '--yes');
    const page = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
    expect(page.html).not.toContain('Ana Lee');
    expect(await app().dataSource.manager.countBy(SignInSession, { userId: ana.id })).toBe(0);
  });
});
