import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../../src/platform/secrets.js';
import {
  AccessToken,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import { RepeatedWork } from '../../support/background.js';
import { obtainTokens, requestToken } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { expectTokensAccepted, retryWhileUnavailable } from './retry.js';

const MAX_PAUSE_MS = 50;

/** A grant and its newest tokens. */
interface Chain {
  client: TestClient;
  tokens: TokenBody;
  rotations: number;
}

/** Apps that refresh repeatedly. Each sends every refresh token twice at once, retries after 503, and then sends it once more. */
export class Rotations {
  /** Number of refresh tokens that were rotated. */
  done = 0;
  /** Number of responses with 503. */
  unavailable = 0;
  private readonly chains: Chain[] = [];
  private readonly apps = new RepeatedWork();

  private constructor(private readonly app: TestApp) {}

  /** @param size number of apps, each with its own user */
  static async prepare(app: TestApp, size: number): Promise<Rotations> {
    const rotations = new Rotations(app);
    while (rotations.chains.length < size) await rotations.add();
    return rotations;
  }

  begin(): void {
    for (const chain of this.chains) this.apps.begin(() => this.rotate(chain));
  }

  /**
   * Waits for the running requests. Asserts, once the database has recovered, that the API soon accepts the newest tokens, and
   * that no refresh token has two successors.
   */
  async stopAndCheck(): Promise<void> {
    await this.apps.stop();
    const newest = this.chains.map(({ tokens }) => tokens.access_token);
    await expectTokensAccepted(this.app, newest);
    for (const chain of this.chains) await this.expectSingleChain(chain);
  }

  private async add(): Promise<void> {
    const client = await this.app.addClient();
    this.chains.push({ client, tokens: await obtainTokens(this.app, client), rotations: 0 });
  }

  private async rotate(chain: Chain): Promise<void> {
    const refresh = (): Promise<TokenBody> => this.refresh(chain);
    const [first, second] = await Promise.all([refresh(), refresh()]);
    // `expires_in` decreases with time, but by less than a minute: a later repetition would revoke the grant.
    const same = { ...first, expires_in: expect.closeTo(first.expires_in, -2) as number };
    expect(second).toEqual(same);
    expect(await refresh()).toEqual(same);
    chain.tokens = first;
    chain.rotations += 1;
    this.done += 1;
    await sleep(MAX_PAUSE_MS * Math.random());
  }

  private async refresh({ client, tokens }: Chain): Promise<TokenBody> {
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const response = await retryWhileUnavailable(() => requestToken(this.app, client, form), {
      onUnavailable: () => (this.unavailable += 1),
    });
    if (response.status !== 200)
      throw new Error(`refresh: ${response.status} ${await response.text()}`);
    return json<TokenBody>(response);
  }

  private async expectSingleChain({ client, tokens, rotations }: Chain): Promise<void> {
    const { manager } = this.app.dataSource;
    const { clientId } = client;
    const { id: grantId } = await manager.findOneByOrFail(Grant, { clientId });
    const rows = await manager.findBy(RefreshToken, { grantId });
    expect(rows).toHaveLength(rotations + 1);
    expect(new Set(rows.map(({ predecessorHash }) => predecessorHash)).size).toBe(rows.length);
    const unused = rows.filter(({ consumedAt }) => consumedAt === null);
    expect(unused.map(({ hash }) => hash)).toEqual([sha256(tokens.refresh_token)]);
    expect(await manager.countBy(AccessToken, { grantId })).toBe(rows.length);
  }
}
