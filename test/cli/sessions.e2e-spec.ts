import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Browser } from '../support/browser.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';

interface ListedSession {
  session: string;
}

const APPS = '/account/apps';

onOneEngine('Commands "session list" and "session end"', (database) => {
  const { app, cli } = useCommands(database);

  // The commands use the real clock. The session is a quarter of an hour old at the end of each preparation.
  beforeEach(() => app().clock.set(new Date(Date.now() - 15 * 60_000).toISOString()));

  const list = (userId: string): Promise<ListedSession[]> =>
    cli.json('session', 'list', '--user', userId);

  it('list the sessions of a user, newest first, without their hashes', async () => {
    const user = await app().addUser();
    expect((await cli.run('session', 'list', '--user', user.id)).stdout).toBe(
      'The user is not signed in.\n',
    );
    const [one, two] = [new Browser(app()), new Browser(app())];
    await one.signInToAccount(user);
    const signedInAt = app().clock.now();
    // A phone gets one message a minute.
    app().clock.advance(5 * 60_000);
    await two.signInToAccount(user);
    app().clock.advance(5 * 60_000);
    const extendedAt = app().clock.now();
    await one.open(APPS);
    const sessions = await list(user.id);
    expect(sessions).toHaveLength(2);
    expect(sessions[0]).toMatchObject({ last_extended_at: null });
    expect(sessions[1]).toEqual({
      session: expect.stringMatching(/^[0-9a-f]{12}$/),
      created_at: signedInAt.toISOString(),
      last_extended_at: extendedAt.toISOString(),
      expires_at: new Date(extendedAt.getTime() + 30 * 60_000).toISOString(),
    });
    const { stdout } = await cli.run('session', 'list', '--user', user.id);
    expect(stdout).toMatch(/^SESSION +CREATED +LAST_EXTENDED +EXPIRES\n/);
    for (const { hash } of await app().dataSource.manager.find(SignInSession))
      expect(stdout).not.toContain(hash.slice(12, 20));
  });

  it('end one session and leave the other', async () => {
    const user = await app().addUser();
    const [one, two] = [new Browser(app()), new Browser(app())];
    await one.signInToAccount(user);
    app().clock.advance(5 * 60_000);
    await two.signInToAccount(user);
    const [, first] = await list(user.id);
    const { session = '' } = first ?? {};
    const end = ['session', 'end', session, '--user', user.id];
    expect(await cli.json(...end, '--yes')).toEqual({ user_id: user.id, session });
    expect((await one.open(APPS)).html).toContain('name="phone"');
    expect((await two.open(APPS)).html).not.toContain('name="phone"');
    expect(await list(user.id)).toHaveLength(1);
    expect((await auditTrail(app().dataSource, user.id)).at(-1)?.details).toEqual({ session });
    const { code, stderr } = await cli.run(...end, '--yes');
    expect(code).toBe(1);
    expect(stderr).toBe(
      `${user.id} has no sign-in session "${session}". "session list --user ${user.id}" prints the sessions.\n`,
    );
  });

  it('does not end the session of another user', async () => {
    const [ana, ben] = [await app().addUser(), await app().addUser()];
    await new Browser(app()).signInToAccount(ana);
    const [{ session } = { session: '' }] = await list(ana.id);
    const end = ['session', 'end', session, '--user', ben.id, '--yes'];
    expect((await cli.run(...end)).code).toBe(1);
    expect(await list(ana.id)).toHaveLength(1);
  });
});
