import { setTimeout as sleep } from 'node:timers/promises';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
import { MINUTE, SECOND } from '../../../src/platform/clock.js';
import { sha256 } from '../../../src/platform/secrets.js';
import {
  AccessToken,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import {
  approve,
  exchange,
  isTokenAccepted,
  obtainTokens,
  requestToken,
  sendForm,
} from '../../support/oauth-flow.js';
import { onEachServer } from '../../support/database.js';
import { expectTokenError, json, type TokenBody } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp, type TestClient, flushDeferredWrites } from '../../support/test-app.js';

/** Less than the database timeout. */
const DELAY_MS = 800;

onEachServer('In-doubt commits of token requests', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let other: TestApp;
  let client: TestClient;
  let code: string;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    // Counters of calls have a COMMIT of their own, which the proxy would take for that of the request.
    const env = { DB_TIMEOUT_MS: '1000', OAUTH_TOKEN_CALLS: '0' };
    app = await TestApp.start({ ...database, url: proxy.url }, env);
    other = await TestApp.start(database);
  });
  afterAll(async () => {
    await proxy?.mend();
    await app?.stop();
    await other?.stop();
    await proxy?.stop();
  });
  beforeEach(async () => {
    client = await app.addClient();
    code = (await approve(app, await app.addUser(), client)).get('code') ?? '';
  });
  afterEach(() => proxy.mend());

  const exchangeCode = (): Promise<Response> => exchange(app, client, code);
  const refresh = ({ refresh_token }: TokenBody): Promise<Response> =>
    requestToken(app, client, { grant_type: 'refresh_token', refresh_token });

  /** Loses the connection before the database receives the COMMIT, or before it confirms it. */
  async function loseCommit(
    when: 'before' | 'after',
    send: () => Promise<Response>,
  ): Promise<void> {
    // Deferred writes have a COMMIT of their own.
    await flushDeferredWrites(app);
    if (when === 'before') proxy.cutBefore('COMMIT');
    else proxy.cutAfterStatement('COMMIT');
    await expectTokenError(await send(), 'temporarily_unavailable', 503);
    await proxy.mend();
  }

  const countReplays = (): Promise<number> =>
    app.dataSource.manager.countBy(AuditEvent, {
      clientId: client.clientId,
      action: 'code.replayed',
    });

  it('O68 returns the tokens for a retried exchange, and repeats them for ten seconds', async () => {
    await loseCommit('after', exchangeCode);
    app.clock.advance(9 * MINUTE);
    const tokens = await json<TokenBody>(await exchangeCode());
    app.clock.advance(9 * SECOND);
    const { expires_in, ...same } = await json<TokenBody>(await exchangeCode());
    expect({ ...same, expires_in: expires_in + 9 }).toEqual(tokens);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(true);
    app.clock.advance(SECOND);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect(await countReplays()).toBe(1);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(false);
  });

  it('O68 returns the tokens for an exchange that failed before without an effect', async () => {
    await loseCommit('before', exchangeCode);
    await loseCommit('after', exchangeCode);
    const { access_token } = await json<TokenBody>(await exchangeCode());
    expect(await isTokenAccepted(app, access_token)).toBe(true);
  });

  it('O68 rejects the retry in another process and revokes nothing', async () => {
    await loseCommit('after', exchangeCode);
    await expectTokenError(await exchange(other, client, code), 'invalid_grant');
    const { access_token } = await json<TokenBody>(await exchangeCode());
    expect(await isTokenAccepted(other, access_token)).toBe(true);
  });

  it('O68 returns the tokens for an exchange that is retried before the first request fails', async () => {
    const { clientId } = client;
    const { id: grantId } = await app.dataSource.manager.findOneByOrFail(Grant, { clientId });
    await flushDeferredWrites(app);
    const stranded = proxy.strandAfter(/COMMIT$/);
    const first = exchangeCode();
    await stranded;
    await expect
      .poll(() => other.dataSource.manager.countBy(AccessToken, { grantId }), { timeout: 5000 })
      .toBe(1);
    app.clock.advance(11 * SECOND);
    const second = exchangeCode();
    await expectTokenError(await second, 'temporarily_unavailable', 503);
    await expectTokenError(await first, 'temporarily_unavailable', 503);
    const { access_token } = await json<TokenBody>(await exchangeCode());
    expect(await isTokenAccepted(app, access_token)).toBe(true);
    expect(await countReplays()).toBe(0);
  });

  it('O68 rejects a retry while a slow commit is confirmed, and revokes nothing', async () => {
    const held = proxy.holdAfter('INSERT INTO `audit_events`');
    const first = exchangeCode();
    await held;
    void proxy.mend();
    proxy.slow(DELAY_MS);
    await sleep(DELAY_MS / 4);
    proxy.slow(0);
    const second = exchangeCode();
    await sleep(DELAY_MS / 4);
    app.clock.advance(11 * SECOND);
    await expectTokenError(await second, 'invalid_grant');
    const { access_token } = await json<TokenBody>(await first);
    expect(await isTokenAccepted(app, access_token)).toBe(true);
    expect(await countReplays()).toBe(0);
  });

  it('O68 accepts a late retry of a refresh before the first request fails', async () => {
    const first = await obtainTokens(app, client);
    await flushDeferredWrites(app);
    const stranded = proxy.strandAfter(/COMMIT$/);
    const unanswered = refresh(first);
    await stranded;
    const hash = sha256(first.refresh_token);
    await expect
      .poll(() => other.dataSource.manager.countBy(RefreshToken, { predecessorHash: hash }))
      .toBe(1);
    app.clock.advance(31 * SECOND);
    await expectTokenError(await refresh(first), 'temporarily_unavailable', 503);
    await expectTokenError(await unanswered, 'temporarily_unavailable', 503);
    const { access_token } = await json<TokenBody>(await refresh(first));
    expect(await isTokenAccepted(app, access_token)).toBe(true);
  });

  it('O68 repeats a stored response without waiting for an in-doubt commit', async () => {
    const first = await obtainTokens(app, client);
    const tokens = await json<TokenBody>(await refresh(first));
    app.clock.advance(26 * SECOND);
    await flushDeferredWrites(app);
    const stranded = proxy.strandAfter(/COMMIT$/);
    const unanswered = refresh(first);
    await stranded;
    const again = refresh(first);
    await sleep(DELAY_MS / 2);
    app.clock.advance(10 * SECOND);
    const { refresh_token } = await json<TokenBody>(await again);
    expect(refresh_token).toBe(tokens.refresh_token);
    await expectTokenError(await unanswered, 'temporarily_unavailable', 503);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(true);
  });

  it('O68 treats a retry after ten minutes as a replay', async () => {
    await loseCommit('after', exchangeCode);
    app.clock.advance(10 * MINUTE);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect(await countReplays()).toBe(1);
  });

  it('O68 rejects a retry after the tokens were used', async () => {
    await loseCommit('after', exchangeCode);
    const next = await json<TokenBody>(await refresh(await json<TokenBody>(await exchangeCode())));
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect(await isTokenAccepted(app, next.access_token)).toBe(true);
    app.clock.advance(10 * SECOND);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect(await isTokenAccepted(app, next.access_token)).toBe(false);
  });

  it('O68 rejects a retry after the access token was revoked, and revokes nothing else', async () => {
    await loseCommit('after', exchangeCode);
    const tokens = await json<TokenBody>(await exchangeCode());
    const { access_token: token } = tokens;
    expect((await sendForm(app, '/oauth/revoke', client, { token })).status).toBe(200);
    app.clock.advance(9 * SECOND);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect((await refresh(tokens)).status).toBe(200);
  });

  it('O68 returns the tokens for a retried refresh until they are used', async () => {
    const first = await obtainTokens(app, client);
    await loseCommit('after', () => refresh(first));
    app.clock.advance(9 * MINUTE);
    const tokens = await json<TokenBody>(await refresh(first));
    app.clock.advance(29 * SECOND);
    const { expires_in, ...same } = await json<TokenBody>(await refresh(first));
    expect({ ...same, expires_in: expires_in + 29 }).toEqual(tokens);
    const next = await json<TokenBody>(await refresh(tokens));
    await expectTokenError(await refresh(first), 'invalid_grant');
    expect(await isTokenAccepted(app, next.access_token)).toBe(false);
  });

  it('O68 detects replays at the usual time after a commit that was not sent', async () => {
    const first = await obtainTokens(app, client);
    await loseCommit('before', () => refresh(first));
    const { access_token } = await json<TokenBody>(await refresh(first));
    app.clock.advance(30 * SECOND + 1);
    await expectTokenError(await refresh(first), 'invalid_grant');
    expect(await isTokenAccepted(app, access_token)).toBe(false);
    await loseCommit('before', exchangeCode);
    const tokens = await json<TokenBody>(await exchangeCode());
    app.clock.advance(10 * SECOND);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect(await countReplays()).toBe(1);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(false);
  });
});
