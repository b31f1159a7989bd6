import { setTimeout as sleep } from 'node:timers/promises';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
import { SECOND } from '../../../src/platform/clock.js';
import {
  approve,
  exchange,
  isTokenAccepted,
  obtainTokens,
  requestToken,
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
  /** Another process of the service. */
  let otherApp: TestApp;
  let client: TestClient;
  let code: string;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    app = await TestApp.start({ ...database, url: proxy.url }, { DB_TIMEOUT_MS: '1000' });
    otherApp = await TestApp.start(database);
  });
  afterAll(async () => {
    await proxy?.repair();
    await app?.stop();
    await otherApp?.stop();
    await proxy?.stop();
  });
  beforeEach(async () => {
    client = await app.addClient();
    code = (await approve(app, await app.addUser(), client)).get('code') ?? '';
  });
  afterEach(() => proxy.repair());

  const exchangeCode = (): Promise<Response> => exchange(app, client, code);
  const refresh = ({ refresh_token }: TokenBody): Promise<Response> =>
    requestToken(app, client, { grant_type: 'refresh_token', refresh_token });

  /** Loses the connection before the database receives the COMMIT, or after it has executed the COMMIT, before the service knows. */
  async function loseCommit(
    when: 'before' | 'after',
    send: () => Promise<Response>,
  ): Promise<void> {
    // Deferred writes have a COMMIT of their own.
    await flushDeferredWrites(app);
    if (when === 'before') proxy.cutBeforeStatement('COMMIT');
    else proxy.cutAfterStatement('COMMIT');
    await expectTokenError(await send(), 'temporarily_unavailable', 503);
    await proxy.repair();
  }

  const countReplays = (): Promise<number> =>
    app.dataSource.manager.countBy(AuditEvent, {
      clientId: client.clientId,
      action: 'code.replayed',
    });

  it('O68 rejects the retry of an exchange whose commit was not confirmed, and revokes nothing for ten seconds', async () => {
    await loseCommit('after', exchangeCode);
    app.clock.advance(9 * SECOND);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    await expectTokenError(await exchange(otherApp, client, code), 'invalid_grant');
    expect(await countReplays()).toBe(0);
    app.clock.advance(SECOND);
    await expectTokenError(await exchangeCode(), 'invalid_grant');
    expect(await countReplays()).toBe(1);
  });

  it('O68 exchanges a code if the first COMMIT did not reach the database', async () => {
    await loseCommit('before', exchangeCode);
    const { access_token } = await json<TokenBody>(await exchangeCode());
    expect(await isTokenAccepted(app, access_token)).toBe(true);
  });

  it('O68 rejects a retry while the confirmation of the first commit is delayed, and revokes nothing', async () => {
    const held = proxy.holdAfter('INSERT INTO `audit_events`');
    const first = exchangeCode();
    await held;
    void proxy.repair();
    proxy.slow(DELAY_MS);
    await sleep(DELAY_MS / 4);
    proxy.slow(0);
    const second = exchangeCode();
    await sleep(DELAY_MS / 4);
    await expectTokenError(await second, 'invalid_grant');
    const { access_token } = await json<TokenBody>(await first);
    expect(await isTokenAccepted(app, access_token)).toBe(true);
    expect(await countReplays()).toBe(0);
  });

  it('O68 repeats a stored response without waiting for an in-doubt commit', async () => {
    const first = await obtainTokens(app, client);
    const tokens = await json<TokenBody>(await refresh(first));
    app.clock.advance(SECOND);
    await flushDeferredWrites(app);
    const stranded = proxy.blackholeAfter(/COMMIT$/);
    const inDoubtRefresh = refresh(first);
    await stranded;
    const again = refresh(first);
    await sleep(DELAY_MS / 2);
    app.clock.advance(10 * SECOND);
    const { refresh_token } = await json<TokenBody>(await again);
    expect(refresh_token).toBe(tokens.refresh_token);
    await expectTokenError(await inDoubtRefresh, 'temporarily_unavailable', 503);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(true);
  });

  it.each(['the same process', 'another process'])(
    'O68 returns the stored tokens for a refresh that is retried within thirty seconds at %s',
    async (process) => {
      const first = await obtainTokens(app, client);
      await loseCommit('after', () => refresh(first));
      app.clock.advance(29 * SECOND);
      otherApp.clock.set(app.clock.now().toISOString());
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
      const target = process === 'another process' ? otherApp : app;
      const tokens = await json<TokenBody>(await requestToken(target, client, form));
      expect(await isTokenAccepted(app, tokens.access_token)).toBe(true);
    },
  );

  it('O68 revokes the grant when a refresh is retried after thirty seconds', async () => {
    const first = await obtainTokens(app, client);
    await loseCommit('after', () => refresh(first));
    app.clock.advance(30 * SECOND + 1);
    await expectTokenError(await refresh(first), 'invalid_grant');
    expect(await isTokenAccepted(app, first.access_token)).toBe(false);
  });

  it('O68 detects replays at the usual time after a COMMIT that did not reach the database', async () => {
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
