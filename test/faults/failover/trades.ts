import { setTimeout as sleep } from 'node:timers/promises';
import { In } from 'typeorm';
import { sha256 } from '../../../src/common/secrets.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { Grant } from '../../../src/modules/oauth/grants/grant.entity.js';
import { json, type ErrorBody, type TokenBody } from '../../support/json.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { approve, exchange } from '../../support/visitor.js';
import { expectLetIn } from './let-in.js';
import { untilAnswered } from './until-answered.js';

/** Codes of an app. Each is sent twice at once, until it is answered, and once more when all of them are. */
export class Trades {
  /** How many codes were answered so far. */
  done = 0;
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
        const answers = [await Promise.all([this.tradedFor(code), this.tradedFor(code)])].flat(2);
        this.done += 1;
        return answers;
      }),
    );
    const again = await Promise.all(this.codes.map((code) => this.tradedFor(code)));
    const tokens = traded.map((answers, place) => new Set([...answers, ...(again[place] ?? [])]));
    // Also where the answer to a commit was lost.
    expect(tokens.map(({ size }) => size)).toEqual(this.codes.map(() => 1));
    this.accessTokens = tokens.flatMap((own) => [...own]);
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

  /** Sends a code until the answer is not "later". Answers the access token that it was exchanged for, if it was. */
  private async tradedFor(code: string): Promise<string[]> {
    const answer = await untilAnswered(() => exchange(this.app, this.client, code));
    const { access_token, error } = await json<Partial<TokenBody & ErrorBody>>(answer);
    if (answer.status !== 200) expect(error).toBe('invalid_grant');
    return access_token === undefined ? [] : [access_token];
  }
}
