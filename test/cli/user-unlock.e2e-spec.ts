import type { DataSource } from 'typeorm';
import { OtpFailures } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { CommandLine } from '../support/command-line.js';
import { connectMigrated, onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';

const HOUR = 3_600_000;

onOneEngine('Command "user unlock"', (database) => {
  const cli = new CommandLine(database);
  let dataSource: DataSource;
  let userCount = 0;
  beforeAll(async () => {
    dataSource = await connectMigrated(database.url);
  });
  afterAll(() => dataSource.destroy());

  /** Adds a user whose phone has this number of wrong codes. */
  async function addUser({
    failures,
    lockedUntil = null,
  }: {
    failures: number;
    lockedUntil?: Date | null;
  }): Promise<string> {
    userCount += 1;
    const phone = `+141555501${10 + userCount}`;
    const { id } = await cli.json<{ id: string }>('user', 'add', '--phone', phone, '--name', 'Ana');
    if (failures > 0)
      await dataSource.manager.insert(OtpFailures, {
        phone,
        failures,
        lastAttemptAt: new Date(),
        lockedUntil,
      });
    return id;
  }

  const inAnHour = (): Date => new Date(Date.now() + HOUR);

  it('O56 unlocks a user and records actor and reason without the phone', async () => {
    const id = await addUser({ failures: 100, lockedUntil: inAnHour() });
    const args = ['user', 'unlock', id, '--actor', 'olga', '--reason', 'Called from her own phone'];
    expect(await cli.run(...args)).toEqual({
      code: 0,
      stdout: `Unlocked ${id}. The user can sign in again.\n`,
      stderr: '',
    });
    expect(await dataSource.manager.count(OtpFailures)).toBe(0);
    expect((await auditTrail(dataSource, id)).slice(1)).toEqual([
      {
        action: 'user.unlocked',
        actor: 'olga',
        reason: 'Called from her own phone',
        details: { locked: true, failures: 100 },
      },
    ]);
  });

  it('O56 prints the previous lock and failures with --json', async () => {
    const id = await addUser({ failures: 100, lockedUntil: inAnHour() });
    expect(await cli.json('user', 'unlock', id)).toEqual({
      id,
      was_locked: true,
      failures: 100,
    });
  });

  it('O56 resets the failures of a user who is not locked', async () => {
    const id = await addUser({ failures: 40 });
    expect(await cli.json('user', 'unlock', id)).toEqual({ id, was_locked: false, failures: 40 });
    expect(await dataSource.manager.count(OtpFailures)).toBe(0);
  });

  it('O56 changes and records nothing for a user without failures', async () => {
    const id = await addUser({ failures: 0 });
    const { code, stdout } = await cli.run('user', 'unlock', id);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${id} was not locked. Its count of wrong codes was 0 and is now 0.\n`,
    });
    expect((await auditTrail(dataSource, id)).map(({ action }) => action)).toEqual(['user.added']);
  });

  it('O56 rejects an unknown user id', async () => {
    const { code, stdout, stderr } = await cli.run('user', 'unlock', 'usr_nobody');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('No user has the id usr_nobody.');
  });

  it('O56 prints examples in its help and requires an id', async () => {
    const { stdout } = await cli.run('user', 'unlock', '--help');
    expect(stdout).toContain('devplatform user unlock usr_');
    expect(stdout).toContain('--reason <text>');
    expect((await cli.run('user', 'unlock')).code).toBe(2);
  });
});
