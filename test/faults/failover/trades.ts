import { setTimeout as sleep } from 'node:timers/promises';
import { In } from 'typeorm';
import { sha256 } from '../../../src/common/secrets.js';
import { Grant } from '../../../src/modules/oauth/grants/grant.entity.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { type ErrorBody, json, type TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { expectLetIn } from './let-in.js';
import { untilAnswered } from './until-answered.js';

/** So long after its exchange, whoever brings a code again is no thief; less what the exchange and its answer may have taken. */
const HARMLESS_MS = 10_000 - 4000;

/** Codes of an app. Each is sent twice at once, until it is answered, and then once more. */
export class Trades {
  /** How many codes were answered so far. */
  done = 0;
  /** When each was first exchanged. */
  private readonly exchangedAt = new Map<string, number>();
  private accessTokens: string[] = [];

  private constructor(
    private readonly app: TestApp,
    private readonly client: TestClient,
    private readonly codes: readonly string[],
  ) {}

  /** @param size how many codes, of a user each */
  static async prepare(app: TestApp, size: number): Promise<Trades> {
    const client = await app.addClient();
    const codes: string[] = [];
    while (codes.length < size)
      codes.push((await approve(app, await app.addUser(), client)).get('code') ?? '');
    return new Trades(app, client, codes);
  }

  /** Of the grants that the codes are for. */
  async grantIds(): Promise<string[]> {
    const { clientId } = this.client;
    const grants = await this.app.dataSource.manager.findBy(Grant, { clientId });
    return grants.map(({ id }) => id);
  }

  /** Sends one code after the other, a new one every so many milliseconds. Asserts that each was answered one access token. */
  async settle(everyMs: number): Promise<void> {
    const traded = await Promise.all(
      this.codes.map(async (code, place) => {
        await sleep(place * everyMs);
        const answers = await Promise.all([this.tradedFor(code), this.tradedFor(code)]);
        this.done += 1;
        return new Set([...answers, await this.tradedFor(code)].flat());
      }),
    );
    // Also where the answer to a commit was lost.
    expect(traded.map(({ size }) => size)).toEqual(this.codes.map(() => 1));
    this.accessTokens = traded.flatMap((own) => [...own]);
  }

  /**
   * Asserts, from when the database is well, that each token that was answered soon opens the API, and that no code has left
   * another.
   */
  async expectNoMore(): Promise<void> {
    await expectLetIn(this.app, this.accessTokens);
    const grantId = In(await this.grantIds());
    const stored = await this.app.dataSource.manager.findBy(AccessToken, { grantId });
    const answered = this.accessTokens.map(sha256);
    expect(stored.map(({ hash }) => hash).toSorted()).toEqual(answered.toSorted());
  }

  /**
   * Sends a code until the answer is not "later", or for as long as that is harmless. Answers the access token that it was
   * exchanged for, if it was.
   */
  private async tradedFor(code: string): Promise<string[]> {
    const send = (): Promise<Response> => exchange(this.app, this.client, code);
    const answer = await untilAnswered(send, { isOver: () => this.isLate(code) });
    const { access_token, error } = await json<Partial<TokenBody & ErrorBody>>(answer);
    if (access_token !== undefined) {
      this.exchangedAt.set(code, this.exchangedAt.get(code) ?? performance.now());
      return [access_token];
    }
    if (answer.status !== 503) expect(error).toBe('invalid_grant');
    return [];
  }

  private isLate(code: string): boolean {
    return performance.now() - (this.exchangedAt.get(code) ?? Infinity) > HARMLESS_MS;
  }
}
