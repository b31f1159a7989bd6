import { HOUR } from '../../src/platform/clock.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { Browser } from '../support/browser.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { authorizeLink, isTokenAccepted } from '../support/oauth-flow.js';

onOneEngine('Commands "user add", "user show", "user block" and "user unlock"', (database) => {
  const { app, cli } = useCommands(database);

  const find = (id: string): Promise<User | null> =>
    app().dataSource.manager.findOneBy(User, { id });

  it('adds a user with a phone and a name', async () => {
    const args = ['user', 'add', '--phone', '+1 (415) 555-0101', '--name', ' Ana Lee '];
    const user = await cli.json<{ id: string }>(...args);
    expect(user).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
      external_id: null,
      phone: '+14155550101',
      name: 'Ana Lee',
      neighborhood: null,
      photo_url: null,
      latitude: null,
      longitude: null,
      status: 'active',
      test: false,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await find(user.id)).toMatchObject({ phone: '+14155550101', status: 'active' });
  });

  it('adds a user with a full profile and negative coordinates', async () => {
    const profile = {
      name: 'Žofie 🌻',
      neighborhood: 'Riverside',
      photoUrl: 'https://example.com/photos/z.jpg',
      latitude: -33.8568,
      longitude: -151.2153,
    };
    const args = ['user', 'add', '--phone', '+14155550102', '--name', profile.name];
    args.push('--neighborhood', profile.neighborhood, '--photo-url', profile.photoUrl);
    args.push('--latitude', String(profile.latitude), '--longitude', String(profile.longitude));
    const { id } = await cli.json<{ id: string }>(...args);
    expect(await find(id)).toMatchObject(profile);
  });

  it('prints the new id and records it without the phone', async () => {
    const args = ['user', 'add', '--phone', '+14155550103', '--name', 'Ben'];
    const { code, stdout, stderr } = await cli.run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [id = ''] = /usr_\w+/.exec(stdout) ?? [];
    expect(await auditTrail(app().dataSource, id)).toMatchObject([{ details: {} }]);
  });

  it('rejects the phone and the external id of another user', async () => {
    const add = ['user', 'add', '--phone', '+14155550104', '--name', 'Cem'];
    const { id } = await cli.json<{ id: string }>(...add, '--external-id', 'm-4');
    expect(await cli.run(...add)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${id} already has this phone number. If the number belongs to another person now, use "user change-phone" with --reassign.\n`,
    });
    const other = ['user', 'add', '--phone', '+14155550105', '--name', 'Dina'];
    expect(await cli.run(...other, '--external-id', 'm-4')).toMatchObject({
      code: 1,
      stderr: `${id} already has this external id.\n`,
    });
    expect(await cli.json('user', 'show', '--external-id', 'm-4')).toMatchObject({ id });
  });

  it('shows a user by id or phone and masks the phone', async () => {
    const { id } = await app().addUser({ phone: '+14155550142', name: 'Ana Lee' });
    const shown = {
      id,
      external_id: null,
      phone: '+1 ••• ••42',
      name: 'Ana Lee',
      neighborhood: null,
      photo_url: null,
      latitude: null,
      longitude: null,
      status: 'active',
      test: false,
      created_at: expect.stringMatching(/Z$/),
      posts: 0,
    };
    expect(await cli.json('user', 'show', id)).toEqual(shown);
    expect(await cli.json('user', 'show', '--phone', '+1 (415) 555-0142')).toEqual(shown);
    const { stdout } = await cli.run('user', 'show', id);
    expect(stdout).toMatch(/^phone +\+1 ••• ••42$/m);
    expect(stdout).not.toContain('4155550142');
    expect(await cli.json('user', 'show', id, '--full')).toMatchObject({ phone: '+14155550142' });
  });

  it('rejects an unknown phone', async () => {
    expect(await cli.run('user', 'show', '--phone', '+14155550999')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('No user has this phone number.'),
    });
  });

  it('rejects tokens of a blocked user from the next call on and accepts them after "user unblock"', async () => {
    const user = await app().addUser();
    const token = await app().accessToken(user, await app().addClient());
    expect(await isTokenAccepted(app(), token)).toBe(true);
    const block = await cli.json('user', 'block', user.id, '--yes');
    expect(block).toMatchObject({ id: user.id, status: 'blocked' });
    expect(await isTokenAccepted(app(), token)).toBe(false);
    expect(await cli.json('user', 'unblock', user.id)).toMatchObject({ status: 'active' });
    expect(await isTokenAccepted(app(), token)).toBe(true);
  });

  it('changes and records nothing when the user is already blocked', async () => {
    const { id } = await app().addUser();
    await cli.json('user', 'block', id, '--yes');
    const { code, stderr } = await cli.run('user', 'block', id, '--yes');
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'No change.\n' });
    const trail = await auditTrail(app().dataSource, id);
    expect(trail.filter(({ action }) => action === 'user.blocked')).toHaveLength(1);
  });

  it('sends no sign-in message to a blocked user', async () => {
    const user = await app().addUser();
    const client = await app().addClient();
    await cli.json('user', 'block', user.id, '--yes');
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    await visitor.submit(page, '/oauth/authorize/sign-in', { phone: user.phone });
    // The message to another user shows that the request of the blocked user was processed.
    const otherUser = await app().addUser();
    await visitor.submit(page, '/oauth/authorize/sign-in', { phone: otherUser.phone });
    await app().sms.password(otherUser.phone);
    expect(app().sms.count(user.phone)).toBe(0);
  });

  /** Adds a user whose phone has this number of wrong codes, and is locked for an hour from 100 on. */
  async function addUserWithFailures(failures: number): Promise<string> {
    const { id, phone } = await app().addUser();
    const lockedUntil = failures < 100 ? null : new Date(Date.now() + HOUR);
    const lock = { phone, failures, lastAttemptAt: new Date(), lockedUntil };
    if (failures > 0) await app().dataSource.manager.insert(OtpFailures, lock);
    return id;
  }

  it('O56 unlocks a user and records it without the phone', async () => {
    const locked = await addUserWithFailures(100);
    expect(await cli.json('user', 'unlock', locked)).toEqual({
      id: locked,
      was_locked: true,
      failures: 100,
    });
    const id = await addUserWithFailures(100);
    expect(await cli.run('user', 'unlock', id)).toEqual({
      code: 0,
      stdout: `Unlocked ${id}. The user can sign in again.\n`,
      stderr: '',
    });
    expect(await app().dataSource.manager.count(OtpFailures)).toBe(0);
    const [, unlocked] = await auditTrail(app().dataSource, id);
    expect(unlocked?.details).toEqual({ locked: true, failures: 100 });
  });

  it('O56 resets the failures of a user who is not locked', async () => {
    const id = await addUserWithFailures(40);
    expect(await cli.json('user', 'unlock', id)).toEqual({ id, was_locked: false, failures: 40 });
    expect(await app().dataSource.manager.count(OtpFailures)).toBe(0);
  });

  it('O56 changes and records nothing for a user without failures', async () => {
    const id = await addUserWithFailures(0);
    const { code, stdout } = await cli.run('user', 'unlock', id);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${id} was not locked. Its count of wrong codes was 0 and is now 0.\n`,
    });
    expect((await auditTrail(app().dataSource, id)).map(({ action }) => action)).toEqual([
      'user.added',
    ]);
  });

  it('"user update" changes the name and the external id', async () => {
    const { id } = await app().addUser({ name: 'Ana Lee' });
    const args = ['user', 'update', id, '--name', 'Ana Ortiz', '--external-id', 'm-17'];
    expect(await cli.json(...args, '--reason', 'Married')).toMatchObject({
      id,
      name: 'Ana Ortiz',
      external_id: 'm-17',
    });
    expect((await cli.run(...args)).stderr).toContain('No change.');
    expect(await auditTrail(app().dataSource, id)).toContainEqual({
      action: 'user.updated',
      actor: expect.any(String),
      reason: 'Married',
      details: { fields: ['name', 'externalId'] },
    });
    const other = await app().addUser();
    expect(await cli.run('user', 'update', other.id, '--external-id', 'm-17')).toMatchObject({
      code: 1,
      stderr: `${id} already has this external id.\n`,
    });
    expect((await cli.run('user', 'update', id)).code).toBe(2);
  });
});
