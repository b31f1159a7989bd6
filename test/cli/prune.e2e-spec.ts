import { sha256 } from '../../src/platform/secrets.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';

onOneEngine('Command "prune"', (database) => {
  const { app, cli } = useCommands(database);
  const sessions = (): Promise<number> => app().dataSource.manager.count(SignInSession);

  beforeEach(async () => {
    const createdAt = new Date('2020-01-01T00:00:00.000Z');
    for (const [number, end] of ['2020-01-02', '2020-01-03', '2999-01-01'].entries()) {
      await app().dataSource.manager.upsert(
        SignInSession,
        {
          hash: sha256(`session ${number}`),
          userId: 'usr_x',
          createdAt,
          expiresAt: new Date(`${end}T00:00:00.000Z`),
        },
        ['hash'],
      );
    }
  });

  it('O142 counts expired rows by table with --dry-run and deletes nothing', async () => {
    const { code, stdout, stderr } = await cli.run('prune', '--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Would delete:\n/);
    expect(stdout).toMatch(/^sign_in_sessions +2$/m);
    expect(stdout).toMatch(/^refresh_tokens +0$/m);
    expect(stdout).toMatch(/^total +2\n$/m);
    const result = await cli.json('prune', '--dry-run');
    expect(result).toMatchObject({ dry_run: true, total: 2, tables: { sign_in_sessions: 2 } });
    expect(await sessions()).toBe(3);
  });

  it('O142 deletes the expired rows once', async () => {
    const first = await cli.json('prune');
    expect(first).toMatchObject({ dry_run: false, total: 2, tables: { sign_in_sessions: 2 } });
    expect(await sessions()).toBe(1);
    const { code, stdout } = await cli.run('prune');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Deleted:\n[^]*^total +0\n$/m);
    expect(await sessions()).toBe(1);
  });
});
