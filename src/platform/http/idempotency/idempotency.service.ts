import { Injectable } from '@nestjs/common';
import { Clock, DAY, addMilliseconds } from '../../clock.js';
import type { Transaction } from '../../database/transaction.js';
import { AppError } from '../../errors.js';
import { retryAfter } from '../../retry-after.js';
import { sha256 } from '../../secrets.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

export class IdempotencyKeyInUse extends AppError {
  constructor() {
    super(
      'idempotency_key_in_use',
      'Another request with this Idempotency-Key is still running. Send this one again in 1 second.',
      { headers: retryAfter(1) },
    );
  }
}

export class IdempotencyKeyReused extends AppError {
  constructor() {
    super(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request. Use a new key for every new request.',
    );
  }
}

const LIFETIME_MS = DAY;

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  clientId: string;
  userId: string;
  /** SHA-256 of app, user and key. */
  hash: string;
  /** SHA-256 of route and body. */
  requestHash: string;
}

/** The result of a request, or of an earlier one with the same key. */
export interface Outcome<T> {
  result: T;
  replayed: boolean;
}

/**
 * Identifies a request by its key; undefined without a key.
 * @param request.route method and path, without the API version
 * @param request.body the order of its members does not matter, but that of nested members does
 */
export function keyedRequest(
  { clientId, userId }: Pick<KeyedRequest, 'clientId' | 'userId'>,
  { key, route, body }: { key: string | undefined; route: string; body: object },
): KeyedRequest | undefined {
  if (key === undefined) return undefined;
  const members = Object.entries(body).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const hash = sha256([clientId, userId, key].join('\n'));
  return { clientId, userId, hash, requestHash: sha256(JSON.stringify([route, members])) };
}

/**
 * Makes POST idempotent: within 24 hours, a request with the same Idempotency-Key gets the result of the first one. `find` the earlier
 * result; if there is none, `save` the new one in the transaction of the request, so that a failed request stores nothing; if `save`
 * or a later statement fails, return `resultAfter`. Results are plain JSON. Follows the IETF draft "The Idempotency-Key HTTP Header
 * Field".
 */
@Injectable()
export class Idempotency {
  constructor(
    private readonly repository: IdempotencyKeysRepository,
    private readonly clock: Clock,
  ) {}

  /** The result of an earlier request with the same key, or undefined. @throws IdempotencyKeyReused if that request was different */
  async find<T extends object>(request: KeyedRequest | undefined): Promise<T | undefined> {
    const earlier = request && (await this.repository.find(request.hash));
    if (!earlier) return undefined;
    const now = this.clock.now();
    if (earlier.expiresAt <= now) {
      await this.repository.deleteExpired(request.hash, now);
      return undefined;
    }
    if (earlier.requestHash !== request.requestHash) throw new IdempotencyKeyReused();
    return JSON.parse(earlier.result) as T;
  }

  /**
   * Stores the results of the requests that have a key. Must be the first statement of the transaction, so that a concurrent
   * transaction with the same key waits before it writes anything.
   * @throws IdempotencyKeyInUse if another request stored one of the keys, or is about to for longer than a second
   */
  async save(
    tx: Transaction,
    results: readonly { request: KeyedRequest | undefined; result: object }[],
  ): Promise<void> {
    const createdAt = this.clock.now();
    const expiresAt = addMilliseconds(createdAt, LIFETIME_MS);
    const rows = results.flatMap(({ request, result }) =>
      request ? [{ ...request, result: JSON.stringify(result), createdAt, expiresAt }] : [],
    );
    if (rows.length > 0 && !(await this.repository.insertAll(tx, rows)))
      throw new IdempotencyKeyInUse();
  }

  /**
   * The result of the concurrent request with the same key, after this one failed.
   * @throws the error if it has another cause, or if the other request is still running
   */
  async resultAfter<T extends object>(
    error: unknown,
    request: KeyedRequest | undefined,
  ): Promise<T> {
    const result = error instanceof IdempotencyKeyInUse ? await this.find<T>(request) : undefined;
    if (result === undefined) throw error;
    return result;
  }
}
