import { setTimeout as sleep } from 'node:timers/promises';
import { In } from 'typeorm';
import { sha256 } from '../../../src/platform/secrets.js';
import { AccessToken, Grant } from '../../../src/modules/oauth/tokens/token.entities.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { type ErrorBody, json, type TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { expectTokensAccepted, retryWhileUnavailable } from './retry.js';

/**
 * A code is repeated only within this time after its exchange. From 10 seconds on, it would revoke the grant. That leaves 4 seconds
 * for the last request.
 */
const MAX_REPEAT_DELAY_MS = 10_000 - 4000;

/** Codes of an app, each sent twice at once with retries after 503, and then once more. */
export class CodeExchanges {
  /** Number of codes whose first two requests have got their responses. */
  done = 0;
  /** For each code, the time of its first exchange. */
  private readonly exchangedAt = new Map<string, number>();
  private accessTokens: string[] = [];

  private constructor(
    private readonly app: TestApp,
    private readonly client: TestClient,
    private readonly codes: readonly string[],
  ) {}

  /** @param size number of codes, each of its own user */
  static async prepare(app: TestApp, size: number): Promise<CodeExchanges> {
    const client = await app.addClient();
    const codes: string[] = [];
    while (codes.length < size)
      codes.push((await approve(app, await app.addUser(), client)).get('code') ?? '');
    return new CodeExchanges(app, client, codes);
  }

  /** Ids of the grants of the codes. */
  async grantIds(): Promise<string[]> {
    const { clientId } = this.client;
    const grants = await this.app.dataSource.manager.findBy(Grant, { clientId });
    return grants.map(({ id }) => id);
  }

  /**
   * Sends a new code every `everyMs` milliseconds. Asserts that no code yields two access tokens. A code whose commit was not
   * confirmed may be used up without a token.
   */
  async exchangeAll(everyMs: number): Promise<void> {
    const tokens = await Promise.all(
      this.codes.map(async (code, index) => {
        await sleep(index * everyMs);
        const responses = await Promise.all([this.exchangeCode(code), this.exchangeCode(code)]);
        this.done += 1;
        return new Set([...responses, await this.exchangeCode(code)].flat());
      }),
    );
    for (const { size } of tokens) expect(size).toBeLessThanOrEqual(1);
    this.accessTokens = tokens.flatMap((own) => [...own]);
  }

  /**
   * Asserts, once the database has recovered, that the API soon accepts each access token, and that each code left at most one
   * token.
   */
  async expectTokensStored(): Promise<void> {
    await expectTokensAccepted(this.app, this.accessTokens);
    const grantId = In(await this.grantIds());
    const stored = await this.app.dataSource.manager.findBy(AccessToken, { grantId });
    expect(stored.map(({ hash }) => hash)).toEqual(
      expect.arrayContaining(this.accessTokens.map(sha256)),
    );
    expect(new Set(stored.map((token) => token.grantId)).size).toBe(stored.length);
  }

  /**
   * Sends a code until the response is not 503, or until another repetition would count as theft. Returns a list with the access
   * token, or an empty list if the response has none.
   */
  private async exchangeCode(code: string): Promise<string[]> {
    const send = (): Promise<Response> => exchange(this.app, this.client, code);
    const response = await retryWhileUnavailable(send, {
      shouldStop: () => this.isTooLateToRepeat(code),
    });
    const { access_token, error } = await json<Partial<TokenBody & ErrorBody>>(response);
    if (access_token !== undefined) {
      this.exchangedAt.set(code, this.exchangedAt.get(code) ?? performance.now());
      return [access_token];
    }
    if (response.status !== 503) expect(error).toBe('invalid_grant');
    return [];
  }

  private isTooLateToRepeat(code: string): boolean {
    return performance.now() - (this.exchangedAt.get(code) ?? Infinity) > MAX_REPEAT_DELAY_MS;
  }
}
