import { setTimeout as sleep } from 'node:timers/promises';
import { AuditEvent } from '../../../src/audit/audit-event.entity.js';
import { MINUTE, SECOND } from '../../../src/common/clock.js';
import { sha256 } from '../../../src/common/secrets.js';
import { Grant } from '../../../src/modules/oauth/grants/grant.entity.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { RefreshToken } from '../../../src/modules/oauth/token/refresh-token.entity.js';
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

/** Less than anybody waits for the database. */
const LATE_MS = 800;

onEachServer('A unit of work whose end was not heard', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let other: TestApp;
  let client: TestClient;
  let code: string;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    app = await TestApp.start({ ...database, url: proxy.url }, { DB_TIMEOUT_MS: '1000' });
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

  const trade = (): Promise<Response> => exchange(app, client, code);
  const refresh = ({ refresh_token }: TokenBody): Promise<Response> =>
    requestToken(app, client, { grant_type: 'refresh_token', refresh_token });

  /** The database is lost before it hears of the end, or before it says that it did. */
  async function lost(when: 'before' | 'after', send: () => Promise<Response>): Promise<void> {
    // It has a COMMIT, too, which would be taken for theirs.
    await flushDeferredWrites(app);
    if (when === 'before') proxy.cutBefore('COMMIT');
    else proxy.cutAfterStatement('COMMIT');
    await expectTokenError(await send(), 'temporarily_unavailable', 503);
    await proxy.mend();
  }

  const thefts = (): Promise<number> =>
    app.dataSource.manager.countBy(AuditEvent, {
      clientId: client.clientId,
      action: 'code.replayed',
    });

  it('O68 Is an exchange that is answered when its app comes back, and for ten seconds again', async () => {
    await lost('after', trade);
    app.clock.advance(9 * MINUTE);
    const tokens = await json<TokenBody>(await trade());
    app.clock.advance(9 * SECOND);
    const { expires_in, ...same } = await json<TokenBody>(await trade());
    expect({ ...same, expires_in: expires_in + 9 }).toEqual(tokens);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(true);
    app.clock.advance(SECOND);
    await expectTokenError(await trade(), 'invalid_grant');
    expect(await thefts()).toBe(1);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(false);
  });

  it('O68 Is an exchange that may have been tried before in vain', async () => {
    await lost('before', trade);
    await lost('after', trade);
    const { access_token } = await json<TokenBody>(await trade());
    expect(await isTokenAccepted(app, access_token)).toBe(true);
  });

  it('O68 Is unknown to another process, which refuses a repeat and ends nothing', async () => {
    await lost('after', trade);
    await expectTokenError(await exchange(other, client, code), 'invalid_grant');
    const { access_token } = await json<TokenBody>(await trade());
    expect(await isTokenAccepted(other, access_token)).toBe(true);
  });

  it('O68 Is an exchange that is answered when its app asks again before the first one has failed', async () => {
    const { clientId } = client;
    const { id: grantId } = await app.dataSource.manager.findOneByOrFail(Grant, { clientId });
    await flushDeferredWrites(app);
    const stranded = proxy.strandAfter(/COMMIT$/);
    const first = trade();
    await stranded;
    await expect
      .poll(() => other.dataSource.manager.countBy(AccessToken, { grantId }), { timeout: 5000 })
      .toBe(1);
    app.clock.advance(11 * SECOND);
    const second = trade();
    await expectTokenError(await second, 'temporarily_unavailable', 503);
    await expectTokenError(await first, 'temporarily_unavailable', 503);
    const { access_token } = await json<TokenBody>(await trade());
    expect(await isTokenAccepted(app, access_token)).toBe(true);
    expect(await thefts()).toBe(0);
  });

  it('O68 Is none that was only heard late: who asked again meanwhile is refused, and that ends nothing', async () => {
    const held = proxy.holdAfter('INSERT INTO `audit_events`');
    const first = trade();
    await held;
    void proxy.mend();
    proxy.slow(LATE_MS);
    await sleep(LATE_MS / 4);
    proxy.slow(0);
    const second = trade();
    await sleep(LATE_MS / 4);
    app.clock.advance(11 * SECOND);
    await expectTokenError(await second, 'invalid_grant');
    const { access_token } = await json<TokenBody>(await first);
    expect(await isTokenAccepted(app, access_token)).toBe(true);
    expect(await thefts()).toBe(0);
  });

  it('O68 Is a refresh that is no theft for whoever asks again late, before the first one has failed', async () => {
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

  it('O68 Is not waited for where only an answer was asked for again', async () => {
    const first = await obtainTokens(app, client);
    const tokens = await json<TokenBody>(await refresh(first));
    app.clock.advance(26 * SECOND);
    await flushDeferredWrites(app);
    const stranded = proxy.strandAfter(/COMMIT$/);
    const unanswered = refresh(first);
    await stranded;
    const again = refresh(first);
    await sleep(LATE_MS / 2);
    app.clock.advance(10 * SECOND);
    const { refresh_token } = await json<TokenBody>(await again);
    expect(refresh_token).toBe(tokens.refresh_token);
    await expectTokenError(await unanswered, 'temporarily_unavailable', 503);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(true);
  });

  it('O68 Is a theft for whoever comes back too late', async () => {
    await lost('after', trade);
    app.clock.advance(10 * MINUTE);
    await expectTokenError(await trade(), 'invalid_grant');
    expect(await thefts()).toBe(1);
  });

  it('O68 Is lost when its tokens were used', async () => {
    await lost('after', trade);
    const next = await json<TokenBody>(await refresh(await json<TokenBody>(await trade())));
    await expectTokenError(await trade(), 'invalid_grant');
    expect(await isTokenAccepted(app, next.access_token)).toBe(true);
    app.clock.advance(10 * SECOND);
    await expectTokenError(await trade(), 'invalid_grant');
    expect(await isTokenAccepted(app, next.access_token)).toBe(false);
  });

  it('O68 Is lost when its access token was given back, and that ends nothing', async () => {
    await lost('after', trade);
    const tokens = await json<TokenBody>(await trade());
    const { access_token: token } = tokens;
    expect((await sendForm(app, '/oauth/revoke', client, { token })).status).toBe(200);
    app.clock.advance(9 * SECOND);
    await expectTokenError(await trade(), 'invalid_grant');
    expect((await refresh(tokens)).status).toBe(200);
  });

  it('O68 Is a refresh that is answered when its app comes back, until the answer is used', async () => {
    const first = await obtainTokens(app, client);
    await lost('after', () => refresh(first));
    app.clock.advance(9 * MINUTE);
    const tokens = await json<TokenBody>(await refresh(first));
    app.clock.advance(29 * SECOND);
    const { expires_in, ...same } = await json<TokenBody>(await refresh(first));
    expect({ ...same, expires_in: expires_in + 29 }).toEqual(tokens);
    const next = await json<TokenBody>(await refresh(tokens));
    await expectTokenError(await refresh(first), 'invalid_grant');
    expect(await isTokenAccepted(app, next.access_token)).toBe(false);
  });

  it('O68 Is none where the token was used after all: it is a theft as soon as ever', async () => {
    const first = await obtainTokens(app, client);
    await lost('before', () => refresh(first));
    const { access_token } = await json<TokenBody>(await refresh(first));
    app.clock.advance(30 * SECOND + 1);
    await expectTokenError(await refresh(first), 'invalid_grant');
    expect(await isTokenAccepted(app, access_token)).toBe(false);
    await lost('before', trade);
    const tokens = await json<TokenBody>(await trade());
    app.clock.advance(10 * SECOND);
    await expectTokenError(await trade(), 'invalid_grant');
    expect(await thefts()).toBe(1);
    expect(await isTokenAccepted(app, tokens.access_token)).toBe(false);
  });
});
