import { Browser } from '../support/browser.js';
import { authorizeLink, isTokenAccepted } from '../support/oauth-flow.js';
import { CommandLine } from '../support/command-line.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Commands "user show", "user block" and "user unblock"', (database) => {
  const app = useTestApp(database);
  const cli = new CommandLine(database);

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
      created_at: expect.stringMatching(/Z$/),
      posts: 0,
    };
    expect(await cli.json('user', 'show', id)).toEqual(shown);
    expect(await cli.json('user', 'show', '--phone', '+1 (415) 555-0142')).toEqual(shown);
    const { stdout } = await cli.run('user', 'show', id);
    expect(stdout).toMatch(/^phone +\+1 ••• ••42$/m);
    expect(stdout).not.toContain('4155550142');
  });

  it('shows the full phone with --full', async () => {
    const { id, phone } = await app().addUser();
    expect(await cli.json('user', 'show', id, '--full')).toMatchObject({ phone });
  });

  it('rejects an unknown id and an unknown phone', async () => {
    for (const [args, sentence] of [
      [['usr_nobody'], 'No user has the id usr_nobody.'],
      [['--phone', '+14155550999'], 'No user has this phone number.'],
    ] as const) {
      const { code, stdout, stderr } = await cli.run('user', 'show', ...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(sentence);
    }
  });

  it.each([[[]], [['usr_x', '--phone', '+14155550142']], [['--phone', '555']]])(
    'requires either an id or a phone: %j',
    async (args) => {
      expect((await cli.run('user', 'show', ...args)).code).toBe(2);
    },
  );

  it('rejects tokens of a blocked user from the next call on and accepts them after "user unblock"', async () => {
    const user = await app().addUser();
    const token = await app().accessToken(user, await app().addClient());
    expect(await isTokenAccepted(app(), token)).toBe(true);
    const blocked = await cli.json(
      'user',
      'block',
      user.id,
      '--yes',
      '--reason',
      'Spam',
      '--actor',
      'olga',
    );
    expect(blocked).toMatchObject({ id: user.id, status: 'blocked' });
    expect(await isTokenAccepted(app(), token)).toBe(false);
    expect(await cli.json('user', 'unblock', user.id)).toMatchObject({ status: 'active' });
    expect(await isTokenAccepted(app(), token)).toBe(true);
    const [, first, second] = await auditTrail(app().dataSource, user.id);
    expect(first).toMatchObject({ action: 'user.blocked', actor: 'olga', reason: 'Spam' });
    expect(second).toMatchObject({ action: 'user.unblocked' });
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

  it('rejects an unknown user id when blocking and unblocking', async () => {
    for (const verb of ['block', 'unblock'])
      expect(await cli.run('user', verb, 'usr_nobody')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('No user has the id usr_nobody.'),
      });
  });
});
