import { Injectable } from '@nestjs/common';
import { Clock, DAY, later, MINUTE } from '../../clock.js';
import type { ExpiredRows } from '../../database/retention/expired-rows.js';
import type { Transaction } from '../../database/transaction.js';
import { AppError } from '../../errors.js';
import { sha256 } from '../../secrets.js';
import type { IdempotencyKey } from './idempotency-key.entity.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

export class IdempotencyKeyInUse extends AppError {
  static readonly code = 'idempotency_key_in_use';

  constructor() {
    super(
      IdempotencyKeyInUse.code,
      'Another request with this Idempotency-Key is still running. Send this one again in 1 second.',
      { headers: { 'Retry-After': '1' } },
    );
  }
}

export class IdempotencyKeyReused extends AppError {
  static readonly code = 'idempotency_key_reused';

  constructor() {
    super(
      IdempotencyKeyReused.code,
      'This Idempotency-Key was used for another request. Use a new key for every new request.',
    );
  }
}

const LIFETIME_MS = DAY;

/** More than the clocks of two processes may differ, so that none deletes a row that is live for another one. */
const MARGIN_MS = MINUTE;

export interface RepeatableRequest {
  clientId: string;
  userId: string;
  /** The Idempotency-Key; without one, every request is a new one. */
  key: string | undefined;
  /** Method and path, without the version of the API. */
  route: string;
  /** Members as sent, in any order. */
  body: object;
}

/** Stores the key and the result as the first statement of the transaction, which so waits until the key is free. */
export type SaveResult<T> = (tx: Transaction, made: T) => Promise<void>;

/** The result of a request, or of an earlier one with the same key. */
export interface Outcome<T> {
  made: T;
  replayed: boolean;
}

/**
 * Makes POST repeatable: within 24 hours, a request with the same Idempotency-Key gets the result of the first one. The key commits
 * with the result, so a rejected or failed attempt leaves nothing. Follows the IETF draft "The Idempotency-Key HTTP Header Field".
 */
@Injectable()
export class Idempotency {
  constructor(
    private readonly repository: IdempotencyKeysRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Does `work`, unless an earlier request with the same key did it. The result is plain JSON, which the work saves if it gets
   * `saveResult`, that is with a key.
   * @throws IdempotencyKeyReused when the earlier request was different; IdempotencyKeyInUse when it is still running
   */
  async once<T extends object>(
    request: RepeatableRequest,
    work: (saveResult: SaveResult<T> | undefined) => Promise<T>,
  ): Promise<Outcome<T>> {
    const { clientId, userId, key } = request;
    if (key === undefined) return { made: await work(undefined), replayed: false };
    const hash = sha256([clientId, userId, key].join('\n'));
    const requestHash = hashOf(request);
    const earlier = await this.repository.find(hash);
    if (earlier && this.isLive(earlier)) return replay(earlier, requestHash);
    const saveResult = async (tx: Transaction, made: T): Promise<void> => {
      const createdAt = this.clock.now();
      const expiresAt = later(createdAt, LIFETIME_MS);
      const row = { hash, clientId, userId, requestHash, createdAt, expiresAt };
      const stored = { ...row, made: JSON.stringify(made) };
      if (!(await this.repository.insert(tx, stored, earlier !== null)))
        throw new IdempotencyKeyInUse();
    };
    try {
      return { made: await work(saveResult), replayed: false };
    } catch (error) {
      if (!(error instanceof IdempotencyKeyInUse)) throw error;
      const first = await this.repository.find(hash);
      if (first && this.isLive(first)) return replay(first, requestHash);
      throw error;
    }
  }

  /** Rows to delete now. */
  expired(): ExpiredRows {
    return this.repository.expired(later(this.clock.now(), -MARGIN_MS));
  }

  private isLive({ expiresAt }: IdempotencyKey): boolean {
    return expiresAt > this.clock.now();
  }
}

function replay<T>(earlier: IdempotencyKey, requestHash: string): Outcome<T> {
  if (earlier.requestHash !== requestHash) throw new IdempotencyKeyReused();
  return { made: JSON.parse(earlier.made) as T, replayed: true };
}

function hashOf({ route, body }: RepeatableRequest): string {
  const members = Object.entries(body).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return sha256(JSON.stringify([route, members]));
}
