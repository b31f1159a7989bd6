import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../../src/common/secrets.js';
import { Grant } from '../../../src/modules/oauth/grants/grant.entity.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { RefreshToken } from '../../../src/modules/oauth/token/refresh-token.entity.js';
import { RepeatedWork } from '../../support/background.js';
import { obtainTokens, requestToken } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { expectLetIn } from './let-in.js';
import { untilAnswered } from './until-answered.js';

const LONGEST_PAUSE_MS = 50;

/** The tokens of a grant, which follow each other. */
interface Chain {
  client: TestClient;
  tokens: TokenBody;
  rotations: number;
}

/** Apps that refresh over and over. Each refresh token is sent twice at once, until it is answered, and then once more. */
export class Rotations {
  /** How many refresh tokens were followed by another. */
  done = 0;
  /** How many requests were told to come back later. */
  putOff = 0;
  private readonly chains: Chain[] = [];
  private readonly holders = new RepeatedWork();

  private constructor(private readonly app: TestApp) {}

  /** @param size how many apps, of a user each */
  static async prepare(app: TestApp, size: number): Promise<Rotations> {
    const rotations = new Rotations(app);
    while (rotations.chains.length < size) await rotations.add();
    return rotations;
  }

  begin(): void {
    for (const chain of this.chains) this.holders.begin(() => this.rotate(chain));
  }

  /**
   * Ends when every request that was begun is answered. Asserts, from when the database is well, that the last tokens soon open
   * the API, and that no token was followed by two.
   */
  async stop(): Promise<void> {
    await this.holders.stop();
    const newest = this.chains.map(({ tokens }) => tokens.access_token);
    await expectLetIn(this.app, newest);
    for (const chain of this.chains) await this.expectOneLine(chain);
  }

  private async add(): Promise<void> {
    const client = await this.app.addClient();
    this.chains.push({ client, tokens: await obtainTokens(this.app, client), rotations: 0 });
  }

  private async rotate(chain: Chain): Promise<void> {
    const refresh = (): Promise<TokenBody> => this.refresh(chain);
    const [first, second] = await Promise.all([refresh(), refresh()]);
    // Whoever asks later has less time left: less than a minute, since that long no token may come again.
    const same = { ...first, expires_in: expect.closeTo(first.expires_in, -2) as number };
    expect(second).toEqual(same);
    expect(await refresh()).toEqual(same);
    chain.tokens = first;
    chain.rotations += 1;
    this.done += 1;
    await sleep(LONGEST_PAUSE_MS * Math.random());
  }

  private async refresh({ client, tokens }: Chain): Promise<TokenBody> {
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const answer = await untilAnswered(() => requestToken(this.app, client, form), {
      putOff: () => (this.putOff += 1),
    });
    if (answer.status !== 200) throw new Error(`refresh: ${answer.status} ${await answer.text()}`);
    return json<TokenBody>(answer);
  }

  private async expectOneLine({ client, tokens, rotations }: Chain): Promise<void> {
    const { manager } = this.app.dataSource;
    const { clientId } = client;
    const { id: grantId } = await manager.findOneByOrFail(Grant, { clientId });
    const rows = await manager.findBy(RefreshToken, { grantId });
    expect(rows).toHaveLength(rotations + 1);
    expect(new Set(rows.map(({ predecessorHash }) => predecessorHash)).size).toBe(rows.length);
    const alive = rows.filter(({ consumedAt }) => consumedAt === null);
    expect(alive.map(({ hash }) => hash)).toEqual([sha256(tokens.refresh_token)]);
    expect(await manager.countBy(AccessToken, { grantId })).toBe(rows.length);
  }
}
