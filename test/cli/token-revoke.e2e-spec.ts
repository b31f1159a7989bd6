import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { Browser } from '../support/browser.js';
import { isTokenAccepted, obtainTokens, requestToken } from '../support/oauth-flow.js';
import type { CommandResult } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine, onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import type { TestClient } from '../support/test-app.js';

onOneEngine('Command "token revoke"', (database) => {
  const { app, cli } = useCommands(database);

  const revoke = (token: string, ...args: string[]): Promise<CommandResult> =>
    cli.runWithInput(`${token}\n`, 'token', 'revoke', '--yes', ...args);
  const refresh = (client: TestClient, { refresh_token }: TokenBody): Promise<Response> =>
    requestToken(app(), client, { grant_type: 'refresh_token', refresh_token });

  async function issueTokens() {
    const user = await app().addUser();
    const client = await app().addClient();
    const tokens = await obtainTokens(app(), client, user);
    const { clientId } = client;
    const grant = await app().dataSource.manager.findOneByOrFail(Grant, { clientId });
    return { user, client, tokens, grant };
  }

  it('revokes only the access token and reports its owner without the token itself', async () => {
    const { user, client, tokens, grant } = await issueTokens();
    const { code, stdout, stderr } = await revoke(tokens.access_token, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      kind: 'access',
      app: client.name,
      client_id: client.clientId,
      user_id: user.id,
      grant_id: grant.id,
      revoked: true,
    });
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
    const details = { clientId: client.clientId, userId: user.id };
    expect((await auditTrail(app().dataSource, grant.id)).at(-1)?.details).toEqual(details);
    const next = await json<TokenBody>(await refresh(client, tokens));
    expect(await isTokenAccepted(app(), next.access_token)).toBe(true);
  });

  it('revokes the grant of a refresh token', async () => {
    const { client, tokens, grant } = await issueTokens();
    const { code, stdout, stderr } = await revoke(tokens.refresh_token, '--actor', 'olga');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'Revoked the grant and all its tokens.\n',
    });
    expect(stdout).toMatch(/^kind +refresh$/m);
    expect(stdout + stderr).not.toContain(tokens.refresh_token);
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(client, tokens), 'invalid_grant');
    expect((await auditTrail(app().dataSource, grant.id)).at(-1)).toMatchObject({
      action: 'grant.revoked',
      actor: 'olga',
      reason: 'refresh token revoked by an operator',
    });
  });

  it('changes and records nothing when it is repeated', async () => {
    const { tokens, grant } = await issueTokens();
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      await revoke(token);
      const before = await auditTrail(app().dataSource, grant.id);
      const { code, stderr } = await revoke(token);
      expect(code).toBe(0);
      expect(stderr).toBe('No change. It was already revoked.\n');
      expect(await auditTrail(app().dataSource, grant.id)).toEqual(before);
    }
  });

  it.each([
    ['svcat_unknown', /^This access or refresh token does not exist/],
    [`svcat_${'x'.repeat(43)}`, /^This access or refresh token does not exist/],
    [`svc_sec_${'x'.repeat(43)}`, /^This access or refresh token does not exist/],
    ['', /^Standard input contains no token\. Nothing was revoked\.\n$/],
  ])('rejects standard input without an existing token: "%s"', async (token, sentence) => {
    const { code, stdout, stderr } = await revoke(token);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('xxx');
  });
});

onEachEngine('Command "user revoke-all"', (database) => {
  const { app, cli } = useCommands(database);

  it('revokes every grant and session of the user, lists the apps, and leaves other users signed in', async () => {
    const [ana, ben] = [await app().addUser(), await app().addUser()];
    const [one, two] = [
      await app().addClient({ name: 'Garden Share' }),
      await app().addClient({ name: 'Tool Library' }),
    ];
    const anasTokens = [await obtainTokens(app(), one, ana)];
    // A phone gets one message a minute.
    app().clock.advance(61_000);
    anasTokens.push(await obtainTokens(app(), two, ana));
    const bensTokens = await obtainTokens(app(), one, ben);
    const revoke = ['user', 'revoke-all', ana.id];
    const preview = await cli.json(...revoke, '--dry-run');
    expect((await cli.run(...revoke, '--dry-run')).stderr).toBe('Would end 2 sign-in sessions.\n');
    for (const { access_token } of anasTokens)
      expect(await isTokenAccepted(app(), access_token)).toBe(true);
    const result = await cli.json(...revoke, '--yes', '--actor', 'olga');
    expect(preview).toEqual({ ...result, dry_run: true });
    expect(result).toEqual({
      id: ana.id,
      dry_run: false,
      apps: expect.arrayContaining([
        { client_id: one.clientId, name: 'Garden Share' },
        { client_id: two.clientId, name: 'Tool Library' },
      ]),
      sessions: 2,
    });
    for (const { access_token } of anasTokens)
      expect(await isTokenAccepted(app(), access_token)).toBe(false);
    expect(await isTokenAccepted(app(), bensTokens.access_token)).toBe(true);
    const signedOut = (await auditTrail(app().dataSource, ana.id)).find(
      ({ action }) => action === 'user.signed_out',
    );
    expect(signedOut).toMatchObject({
      actor: 'olga',
      // `begun` counts the user's authorization requests that were deleted, decided ones included.
      details: { sessions: 2, begun: 2 },
    });
    expect(await cli.run('user', 'revoke-all', ana.id, '--yes')).toEqual({
      code: 0,
      stdout: 'The user had no active grants.\n',
      stderr: 'Ended 0 sign-in sessions.\n',
    });
  });

  it('counts the same sessions with and without --dry-run, if some have expired', async () => {
    const user = await app().addUser();
    await new Browser(app()).signInToAccount(user);
    const { manager } = app().dataSource;
    await manager.update(SignInSession, { userId: user.id }, { expiresAt: new Date(0) });
    const revoke = ['user', 'revoke-all', user.id];
    const preview = await cli.json(...revoke, '--dry-run');
    expect(await cli.json(...revoke, '--yes')).toEqual({ ...preview, dry_run: false });
  });
});
