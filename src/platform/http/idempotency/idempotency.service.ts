import { Injectable } from '@nestjs/common';
import { Clock, DAY, addMilliseconds } from '../../clock.js';
import type { Transaction } from '../../database/transaction.js';
import { AppError } from '../../errors.js';
import { sha256 } from '../../secrets.js';
import type { IdempotencyKey } from './idempotency-key.entity.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

export class IdempotencyKeyInUse extends AppError {
  constructor() {
    super(
      'idempotency_key_in_use',
      'Another request with this Idempotency-Key is still running. Send this one again in 1 second.',
      { headers: { 'Retry-After': '1' } },
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

export interface RepeatableRequest {
  clientId: string;
  userId: string;
  /** The Idempotency-Key; without one, every request is executed. */
  key: string | undefined;
  /** Method and path, without the API version. */
  route: string;
  /** The order of its members does not matter, but that of nested members does. */
  body: object;
}

/**
 * Stores the key and the result. Must be the first statement of the transaction, so that a concurrent transaction with the same key
 * waits before it writes anything.
 */
export type SaveResult<T> = (tx: Transaction, result: T) => Promise<void>;

/** The result of a request, or of an earlier one with the same key. */
export interface Outcome<T> {
  result: T;
  replayed: boolean;
}

/**
 * Makes POST idempotent: within 24 hours, a request with the same Idempotency-Key gets the result of the first one. The key commits
 * with the result, so a failed request stores nothing. Follows the IETF draft "The Idempotency-Key HTTP Header Field".
 */
@Injectable()
export class Idempotency {
  constructor(
    private readonly repository: IdempotencyKeysRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `work`, unless an earlier request with the same key did. The result must be plain JSON. If the request has a key, `work`
   * receives `saveResult` and must call it.
   * @throws IdempotencyKeyReused if the earlier request was different; IdempotencyKeyInUse if it is still running
   */
  async once<T extends object>(
    request: RepeatableRequest,
    work: (saveResult: SaveResult<T> | undefined) => Promise<T>,
  ): Promise<Outcome<T>> {
    const { clientId, userId, key } = request;
    if (key === undefined) return { result: await work(undefined), replayed: false };
    const hash = sha256([clientId, userId, key].join('\n'));
    const requestHash = hashOf(request);
    const earlier = await this.repository.find(hash);
    if (earlier && this.isLive(earlier)) return replay(earlier, requestHash);
    const saveResult = async (tx: Transaction, result: T): Promise<void> => {
      const createdAt = this.clock.now();
      const expiresAt = addMilliseconds(createdAt, LIFETIME_MS);
      const row = { hash, clientId, userId, requestHash, createdAt, expiresAt };
      const stored = { ...row, result: JSON.stringify(result) };
      const replacesExpired = earlier !== null;
      if (!(await this.repository.insert(tx, stored, { replacesExpired })))
        throw new IdempotencyKeyInUse();
    };
    try {
      return { result: await work(saveResult), replayed: false };
    } catch (error) {
      if (!(error instanceof IdempotencyKeyInUse)) throw error;
      const first = await this.repository.find(hash);
      if (first && this.isLive(first)) return replay(first, requestHash);
      throw error;
    }
  }

  private isLive({ expiresAt }: IdempotencyKey): boolean {
    return expiresAt > this.clock.now();
  }
}

function replay<T>(earlier: IdempotencyKey, requestHash: string): Outcome<T> {
  if (earlier.requestHash !== requestHash) throw new IdempotencyKeyReused();
  return { result: JSON.parse(earlier.result) as T, replayed: true };
}

function hashOf({ route, body }: RepeatableRequest): string {
  const members = Object.entries(body).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return sha256(JSON.stringify([route, members]));
}
