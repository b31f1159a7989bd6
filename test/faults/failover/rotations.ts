import { setTimeout as sleep } from 'node:timers/promises';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
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
/** Repeats within this time are a race, with a margin for the way to the server: the service allows two seconds. */
const RACE_MS = 1500;

/** A grant and its newest tokens. */
interface Chain {
  client: TestClient;
  tokens: TokenBody;
  rotations: number;
  /** Whether late repeats revoked the grant: the app lost several responses over more than two seconds. */
  isEnded: boolean;
}

/**
 * Apps that refresh repeatedly. Each sends every refresh token twice at once. If both responses are 503, one of its workers retries;
 * otherwise it sends the token once more, if that is still within the race.
 */
export class Rotations {
  /** Number of refresh tokens that were rotated. */
  done = 0;
  /** Number of responses with 503. */
  unavailable = 0;
  /** Number of apps whose grant late retries revoked. */
  ended = 0;
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
   * that no refresh token has two successors. An app that lost several responses may have lost its grant.
   */
  async stopAndCheck(): Promise<void> {
    await this.apps.stop();
    const live = this.chains.filter(({ isEnded }) => !isEnded);
    const newest = live.map(({ tokens }) => tokens.access_token);
    await expectTokensAccepted(this.app, newest);
    for (const chain of this.chains) await this.expectSingleChain(chain);
  }

  private async add(): Promise<void> {
    const client = await this.app.addClient();
    this.chains.push({
      client,
      tokens: await obtainTokens(this.app, client),
      rotations: 0,
      isEnded: false,
    });
  }

  private async rotate(chain: Chain): Promise<void> {
    await sleep(MAX_PAUSE_MS * Math.random());
    if (chain.isEnded) return;
    const startedAt = performance.now();
    const isRace = (): boolean => performance.now() - startedAt < RACE_MS;
    const [first, second] = await Promise.all([this.refresh(chain), this.refresh(chain)]);
    const tokens = first ?? second ?? (await this.retry(chain, isRace));
    if (!tokens) return;
    // `expires_in` decreases with time, but by less than a minute: a later repetition would revoke the grant.
    const same = { ...tokens, expires_in: expect.closeTo(tokens.expires_in, -2) as number };
    const third = isRace() ? await this.refresh(chain) : undefined;
    for (const repeated of [second, third]) if (repeated) expect(repeated).toEqual(same);
    chain.tokens = tokens;
    chain.rotations += 1;
    this.done += 1;
  }

  /** Retries until the response is not 503. Marks the chain as ended and returns undefined if late retries revoked the grant. */
  private async retry(chain: Chain, isRace: () => boolean): Promise<TokenBody | undefined> {
    const response = await retryWhileUnavailable(() => this.send(chain), {
      onUnavailable: () => (this.unavailable += 1),
    });
    if (response.status === 200) return json<TokenBody>(response);
    expect([response.status, isRace()]).toEqual([400, false]);
    chain.isEnded = true;
    this.ended += 1;
    return undefined;
  }

  /** Returns undefined after a 503. */
  private async refresh(chain: Chain): Promise<TokenBody | undefined> {
    const response = await this.send(chain);
    if (response.status === 200) return json<TokenBody>(response);
    if (response.status !== 503)
      throw new Error(`refresh: ${response.status} ${await response.text()}`);
    await response.body?.cancel();
    this.unavailable += 1;
    return undefined;
  }

  private send({ client, tokens }: Chain): Promise<Response> {
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    return requestToken(this.app, client, form);
  }

  private async expectSingleChain({ client, tokens, ...chain }: Chain): Promise<void> {
    const { manager } = this.app.dataSource;
    const { clientId } = client;
    const { id: grantId, revokedAt } = await manager.findOneByOrFail(Grant, { clientId });
    const rows = await manager.findBy(RefreshToken, { grantId });
    expect(new Set(rows.map(({ predecessorHash }) => predecessorHash)).size).toBe(rows.length);
    expect(await manager.countBy(AccessToken, { grantId })).toBe(rows.length);
    const unused = rows.filter(({ consumedAt }) => consumedAt === null);
    const reuses = await manager.countBy(AuditEvent, { action: 'refresh_token.reused', clientId });
    if (chain.isEnded) {
      // The app received no response to the last rotation.
      expect([rows.length, unused.length]).toEqual([chain.rotations + 2, 1]);
      expect([revokedAt, reuses]).toEqual([expect.any(Date), 1]);
    } else {
      expect(rows).toHaveLength(chain.rotations + 1);
      expect(unused.map(({ hash }) => hash)).toEqual([sha256(tokens.refresh_token)]);
      expect([revokedAt, reuses]).toEqual([null, 0]);
    }
  }
}
