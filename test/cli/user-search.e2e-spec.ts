import { User } from '../../src/modules/users/user.entity.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';

interface Users {
  users: { id: string; name: string; phone: string | null; [member: string]: unknown }[];
  next_before: string | null;
}

const PEOPLE = [
  { phone: '+14155550101', name: 'Ana Lee', externalId: 'm-1017' },
  { phone: '+14155550202', name: 'Žofie Ana-Maria', externalId: '+14155550101' },
  { phone: '+34915550101', name: '100% Ben_2!', externalId: null },
  { phone: '+14155550404', name: 'Cleo 0101', externalId: '4711' },
];

onEachEngine('Commands "user list" and "user search"', (database) => {
  const { app, cli } = useCommands(database);
  const ids: string[] = [];

  beforeAll(async () => {
    for (const person of PEOPLE) {
      ids.push((await app().addUser(person)).id);
      app().clock.advance(1000);
    }
  });

  const search = (...args: string[]): Promise<Users> => cli.json<Users>('user', 'search', ...args);
  const found = async (...args: string[]): Promise<number[]> =>
    (await search(...args)).users.map(({ id }) => ids.indexOf(id));

  it('list the newest users first, like "user show", and continue with --before', async () => {
    const first = await cli.json<Users>('user', 'list', '--limit', '3');
    expect(first.users.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 3));
    expect(first.users[0]).toEqual(await cli.json('user', 'show', ids[3] ?? ''));
    expect(first.next_before).toBe(ids[1]);
    const rest = await cli.json<Users>('user', 'list', '--before', ids[1] ?? '');
    expect(rest.users.map(({ id }) => id)).toEqual([ids[0]]);
    expect(rest.next_before).toBeNull();
  });

  it('print a table with masked phones, and how to continue', async () => {
    const { code, stdout, stderr } = await cli.run('user', 'list', '--limit', '3');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^USER_ID +PHONE +STATUS +NAME\n/);
    expect(stdout).toMatch(/^usr_\w+ +\+1 ••• ••04 +active +Cleo 0101$/m);
    expect(stdout).not.toContain('0404');
    expect(stderr).toBe(`There are more. To continue, add --before ${ids[1]}\n`);
    expect((await cli.run('user', 'list', '--full')).stdout).toContain('+14155550404');
    expect((await cli.run('user', 'list')).stderr).toBe('');
  });

  it.each([
    ['a part of a name in any case', 'ANA', [1, 0]],
    ['a part of a name with letters beyond ASCII', 'žOFIE', [1]],
    ['the external id', 'm-1017', [0]],
    ['the last four digits of phones, and in names', '0101', [3, 2, 0]],
    ['an external id of four digits', '4711', [3]],
    ['a phone with its country code, also as an external id', '+14155550101', [1, 0]],
    ['a formatted phone', '+34 915 55 01 01', [2]],
    ['a percent sign', '%', [2]],
    ['an underscore', '_', [2]],
    ['an exclamation mark', '2!', [2]],
    ['no other part of a phone', '15555', []],
  ])('find users by %s', async (_, text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  it('find a user whose number 1.1 stored with a trunk prefix, as "user show" does', async () => {
    const { id } = await app().addUser({ phone: '+4901711234567' });
    for (const typed of ['+49 171 1234567', '+49 (0) 0171 1234567', '+4901711234567']) {
      expect((await search(typed)).users).toMatchObject([{ id }]);
      expect(await cli.json('user', 'show', '--phone', typed)).toMatchObject({ id });
    }
    expect(await found('+49 171 1234568')).toEqual([]);
    await app().dataSource.manager.delete(User, { id });
  });

  it('find a user by id', async () => {
    expect(await found(ids[2] ?? '')).toEqual([2]);
    expect(await found('usr_01h455vb4pex5vsknk084sn02q')).toEqual([]);
  });

  it('continue a search with --before', async () => {
    const first = await search('ana', '--limit', '1');
    expect(first.next_before).toBe(ids[1]);
    expect(await found('ana', '--before', ids[1] ?? '')).toEqual([0]);
    expect(await found('+14155550101', '--before', ids[1] ?? '')).toEqual([0]);
  });

  it('say that no user matches', async () => {
    expect(await cli.run('user', 'search', 'Nobody')).toEqual({
      code: 0,
      stdout: 'No user matches "Nobody".\n',
      stderr: '',
    });
    expect(await search('Nobody')).toEqual({ users: [], next_before: null });
  });

  it.each([
    [['list', '--limit', '0'], 'It must be a whole number from 1 to 1000.'],
    [['list', '--limit', '1001'], 'It must be a whole number from 1 to 1000.'],
    [['list', '--before', 'x'], 'It must be a user id such as usr_….'],
    [['search'], "missing required argument 'text'"],
    [['search', ' '], 'error:'],
  ])('reject %j', async (args, sentence) => {
    const { code, stdout, stderr } = await cli.run('user', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
  });
});
