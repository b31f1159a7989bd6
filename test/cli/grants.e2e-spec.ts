import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { addMilliseconds, DAY, MINUTE } from '../../src/platform/clock.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { isTokenAccepted } from '../support/oauth-flow.js';
import { flushDeferredWrites, type TestClient } from '../support/test-app.js';

interface Grants {
  grants: { id: string; status: string; [member: string]: unknown }[];
  next_before: string | null;
}

onEachEngine('Commands "grant list" and "grant revoke"', (database) => {
  const { app, cli } = useCommands(database);

  const list = (...args: string[]): Promise<Grants> => cli.json<Grants>('grant', 'list', ...args);

  /** Issues tokens, and returns the access token and the id of the grant. */
  async function grant(user: { id: string }, client: TestClient) {
    app().clock.advance(1);
    const accessToken = await app().accessToken(user, client, ['profile.read', 'posts.read']);
    const { id } = await app().dataSource.manager.findOneOrFail(Grant, {
      where: { userId: user.id, clientId: client.clientId },
      order: { id: 'DESC' },
    });
    return { id, accessToken };
  }

  it('list the active grants of a user with app, scopes, times and status', async () => {
    const user = await app().addUser({ name: 'Ana Lee' });
    const client = await app().addClient({ name: 'Tool Library' });
    const { id, accessToken } = await grant(user, client);
    expect((await list('--user', user.id)).grants).toMatchObject([{ id, last_used_at: null }]);
    expect(await isTokenAccepted(app(), accessToken)).toBe(true);
    await flushDeferredWrites(app());
    await app().dataSource.manager.update(Grant, { id }, { withdrawnScope: 'posts.read' });
    const { grants, next_before: nextBefore } = await list('--user', user.id);
    expect(grants).toEqual([
      {
        id,
        status: 'active',
        user_id: user.id,
        user_name: 'Ana Lee',
        client_id: client.clientId,
        app_name: 'Tool Library',
        scopes: ['profile.read'],
        created_at: expect.stringMatching(/Z$/),
        last_used_at: expect.stringMatching(/Z$/),
        expires_at: expect.stringMatching(/Z$/),
        revoked_at: null,
      },
    ]);
    expect(nextBefore).toBeNull();
    const { stdout } = await cli.run('grant', 'list', '--user', user.id);
    expect(stdout).toMatch(/^GRANT_ID +STATUS +CREATED +LAST_USED +CLIENT_ID +APP +SCOPES\n/);
    expect(stdout).toMatch(new RegExp(`^${id}  active .* Tool Library  profile.read\n$`, 'm'));
  });

  it('list the grants of an app, newest first, and ended ones only with --all', async () => {
    const client = await app().addClient();
    const users = [await app().addUser(), await app().addUser(), await app().addUser()];
    const ids: string[] = [];
    for (const user of users) ids.push((await grant(user, client)).id);
    const [revoked = '', expired = '', active = ''] = ids;
    const { manager } = app().dataSource;
    await manager.update(Grant, { id: revoked }, { revokedAt: new Date() });
    await manager.update(
      Grant,
      { id: expired },
      { expiresAt: addMilliseconds(new Date(), -MINUTE) },
    );
    expect((await list('--app', client.clientId)).grants.map(({ id }) => id)).toEqual([active]);
    const all = await list('--app', client.clientId, '--all', '--limit', '2');
    expect(all.grants.map(({ id, status }) => [id, status])).toEqual([
      [active, 'active'],
      [expired, 'expired'],
    ]);
    expect(all.next_before).toBe(expired);
    const rest = await list('--app', client.clientId, '--all', '--before', expired);
    expect(rest.grants).toMatchObject([{ id: revoked, status: 'revoked' }]);
    const own = ['--app', client.clientId, '--user', users[0]?.id ?? ''];
    expect((await list(...own, '--all')).grants.map(({ id }) => id)).toEqual([revoked]);
    expect((await cli.run('grant', 'list', ...own)).stdout).toBe('There are no active grants.\n');
  });

  it('find active grants with any plan of the server', async () => {
    const user = await app().addUser();
    const client = await app().addClient();
    const ids: string[] = [];
    for (let count = 0; count < 2; count += 1) ids.unshift((await grant(user, client)).id);
    // With statistics, MySQL sorts these rows, which changes the type of computed columns.
    if (app().dataSource.options.type !== 'better-sqlite3')
      await app().dataSource.query('ANALYZE TABLE grants, users, apps');
    expect((await list('--user', user.id)).grants.map(({ id }) => id)).toEqual(ids);
    expect((await list('--app', client.clientId)).grants.map(({ id }) => id)).toEqual(ids);
    expect(await cli.json('app', 'show', client.clientId)).toMatchObject({ active_users: 1 });
  });

  it('list a grant without a usable token as expired', async () => {
    const user = await app().addUser();
    await grant(user, await app().addClient());
    for (const table of ['access_tokens', 'refresh_tokens'])
      await app().dataSource.query(`UPDATE ${table} SET expires_at = ?`, [
        addMilliseconds(new Date(), -DAY).toISOString().slice(0, -1).replace('T', ' '),
      ]);
    expect((await list('--user', user.id)).grants).toEqual([]);
    expect((await list('--user', user.id, '--all')).grants).toMatchObject([{ status: 'expired' }]);
  });

  it('revoke one grant with its tokens, and no other', async () => {
    const user = await app().addUser();
    const client = await app().addClient();
    const [one, other] = [await grant(user, client), await grant(user, client)];
    const revoke = ['grant', 'revoke', one.id];
    const ids = { id: one.id, user_id: user.id, client_id: client.clientId };
    expect(await cli.json(...revoke, '--yes')).toEqual({ ...ids, revoked: true });
    expect(await isTokenAccepted(app(), one.accessToken)).toBe(false);
    expect(await isTokenAccepted(app(), other.accessToken)).toBe(true);
    const trail = await auditTrail(app().dataSource, one.id);
    expect(trail.at(-1)?.details).toEqual({ clientId: client.clientId, userId: user.id });
    expect(await cli.run(...revoke)).toMatchObject({ code: 0, stderr: 'No change.\n' });
    expect(await auditTrail(app().dataSource, one.id)).toEqual(trail);
  });
});
