import type { DataSource } from 'typeorm';
import { User } from '../../src/modules/users/user.entity.js';
import { CommandLine } from '../support/command-line.js';
import { connectMigrated, onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';

onOneEngine('Command "user add"', (database) => {
  const cli = new CommandLine(database);
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connectMigrated(database.url);
  });
  afterAll(() => dataSource.destroy());

  const find = (id: string): Promise<User | null> => dataSource.manager.findOneBy(User, { id });

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

  it('prints the new id and records the actor without the phone', async () => {
    const args = ['user', 'add', '--phone', '+14155550103', '--name', 'Ben', '--actor', 'olga'];
    const { code, stdout, stderr } = await cli.run(...args, '--reason', 'Moved in');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [id = ''] = /usr_\w+/.exec(stdout) ?? [];
    expect(await auditTrail(dataSource, id)).toEqual([
      { action: 'user.added', actor: 'olga', reason: 'Moved in', details: {} },
    ]);
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
});
