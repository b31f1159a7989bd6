import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { inTurn } from '../support/cluster.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { isTokenAccepted } from '../support/oauth-flow.js';
import { flushDeferredWrites, type TestClient } from '../support/test-app.js';

/** More than one batch. */
const MANY = 501;

onEachEngine('Command "app revoke-all" and the use in "app show"', (database) => {
  const { app, cli } = useCommands(database);

  const issueTokens = (client: TestClient, users: number): Promise<string[]> =>
    inTurn(users, async () => app().accessToken(await app().addUser(), client));

  it('revokes the grants of all users to the app, and of no other app', async () => {
    const [client, other] = [
      await app().addClient({ name: 'Tool Library' }),
      await app().addClient(),
    ];
    const tokens = await issueTokens(client, 2);
    const [kept = ''] = await issueTokens(other, 1);
    const { clientId } = client;
    const revoke = ['app', 'revoke-all', clientId, '--actor', 'olga', '--reason', 'Leak'];
    const count = { client_id: clientId, users: 2, grants: 2 };
    expect(await cli.json(...revoke, '--dry-run')).toEqual({ ...count, dry_run: true });
    expect((await cli.run(...revoke, '--dry-run')).stdout).toBe(
      'Would revoke 2 grants of 2 users.\n',
    );
    for (const token of tokens) expect(await isTokenAccepted(app(), token)).toBe(true);
    expect(await cli.json(...revoke, '--yes')).toEqual({ ...count, dry_run: false });
    for (const token of tokens) expect(await isTokenAccepted(app(), token)).toBe(false);
    expect(await isTokenAccepted(app(), kept)).toBe(true);
    const events = await app().dataSource.manager.findBy(AuditEvent, { reason: 'Leak' });
    const grants = await app().dataSource.manager.findBy(Grant, { clientId });
    expect(events.map(({ subject }) => subject).toSorted()).toEqual(
      grants.map(({ id }) => id).toSorted(),
    );
    for (const event of events)
      expect(event).toMatchObject({ action: 'grant.revoked', actor: 'olga', clientId });
    expect(await cli.run(...revoke, '--yes')).toEqual({
      code: 0,
      stdout: `Revoked 0 grants to ${client.clientId}.\n`,
      stderr: '',
    });
  });

  it('revokes the tokens of a disabled app for good: "app enable" does not bring them back', async () => {
    const client = await app().addClient();
    const tokens = await issueTokens(client, 1);
    const { clientId } = client;
    await cli.json('app', 'disable', clientId, '--yes');
    await cli.json('app', 'revoke-all', clientId, '--yes');
    await cli.json('app', 'enable', clientId);
    for (const token of tokens) expect(await isTokenAccepted(app(), token)).toBe(false);
  });

  it('revokes a large app in batches', async () => {
    const client = await app().addClient();
    const { clientId } = client;
    const [token = ''] = await issueTokens(client, 1);
    const { manager } = app().dataSource;
    const template = await manager.findOneByOrFail(Grant, { clientId });
    await manager.insert(
      Grant,
      Array.from({ length: MANY }, (_, index) => ({
        ...template,
        id: `${template.id.slice(0, -5)}z${String(index).padStart(4, '0')}`,
      })),
    );
    const progress: number[] = [];
    const change = { actor: 'olga' };
    const revoked = await app()
      .service(GrantsService)
      .revokeForApp(clientId, change, (count) => progress.push(count));
    expect({ revoked, progress }).toEqual({ revoked: MANY + 1, progress: [500, MANY + 1] });
    expect(await manager.countBy(AuditEvent, { clientId, action: 'grant.revoked' })).toBe(MANY + 1);
    expect(await isTokenAccepted(app(), token)).toBe(false);
  });

  it('shows users, last use, quota and live secrets in "app show"', async () => {
    const client = await app().addClient();
    const { clientId } = client;
    const unused = {
      active_users: 0,
      last_used_at: null,
      quota: { plan: 'default', used: 0 },
      live_secrets: 1,
      newest_secret_last_four: client.secret?.slice(-4),
    };
    expect(await cli.json('app', 'show', clientId)).toMatchObject(unused);
    const [token = ''] = await issueTokens(client, 2);
    expect((await app().call(token, 'POST', '/posts', { content: 'Hello' })).status).toBe(201);
    await flushDeferredWrites(app());
    const used = await cli.json('app', 'show', clientId);
    const quota = await cli.json('quota', 'show', clientId);
    const { client_id: _, ...rest } = quota;
    expect(used).toMatchObject({ active_users: 2, last_used_at: expect.stringMatching(/Z$/) });
    expect(used.quota).toEqual(rest);
    const { stdout } = await cli.run('app', 'show', clientId);
    expect(stdout).toMatch(/^active_users +2$/m);
    expect(stdout).toMatch(/^quota +1 of \d+ posts in \d{4}-\d\d, plan "default"$/m);
    expect(stdout).toMatch(/^live_secrets +1, the newest ends in "\S{4}"$/m);
    await cli.json('app', 'revoke-all', clientId, '--yes');
    expect(await cli.json('app', 'show', clientId)).toMatchObject({ active_users: 0 });
    const publicApp = await app().addClient({ kind: 'public' });
    expect(await cli.json('app', 'show', publicApp.clientId)).toMatchObject({
      live_secrets: 0,
      newest_secret_last_four: null,
    });
  });
});
