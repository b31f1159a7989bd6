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

/** Longer than the clocks of two processes may differ: what one of them deletes has ended for the other one, too. */
const MARGIN_MS = MINUTE;

/** A POST that may come more than once. */
export interface RepeatableRequest {
  clientId: string;
  userId: string;
  /** The Idempotency-Key; without one, every request is a new one. */
  key: string | undefined;
  /** Method and path, without the version of the API. */
  route: string;
  /** Members as they were sent; their order means nothing. */
  body: object;
}

/** Stores the key and the result as the first statement of the transaction, which so waits until the key is free. */
export type Keep<T> = (tx: Transaction, made: T) => Promise<void>;

/** What a request made, or what an earlier one with the same key made. */
export interface Outcome<T> {
  made: T;
  replayed: boolean;
}

/**
 * Lets a POST be sent again after its answer was lost: who repeats it with the same Idempotency-Key within 24 hours gets what
 * the first one made. Only what was committed is stored, together with it, so a refused or broken attempt leaves nothing.
 * After the draft "The Idempotency-Key HTTP Header Field" of the IETF's HTTPAPI group.
 */
@Injectable()
export class Idempotency {
  constructor(
    private readonly repository: IdempotencyKeysRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Does `work`, unless an earlier request with the same key did it. `made` is plain JSON, which the work keeps where it gets
   * `keep`: without a key there is nothing to keep.
   * @throws IdempotencyKeyReused when the earlier request was another one; IdempotencyKeyInUse when it is still running
   */
  async once<T extends object>(
    request: RepeatableRequest,
    work: (keep: Keep<T> | undefined) => Promise<T>,
  ): Promise<Outcome<T>> {
    const { clientId, userId, key } = request;
    if (key === undefined) return { made: await work(undefined), replayed: false };
    const hash = sha256([clientId, userId, key].join('\n'));
    const requestHash = hashOf(request);
    const earlier = await this.repository.find(hash);
    if (earlier && this.isLive(earlier)) return replay(earlier, requestHash);
    const keep = async (tx: Transaction, made: T): Promise<void> => {
      const createdAt = this.clock.now();
      const expiresAt = later(createdAt, LIFETIME_MS);
      const row = { hash, clientId, userId, requestHash, createdAt, expiresAt };
      const stored = { ...row, made: JSON.stringify(made) };
      if (!(await this.repository.take(tx, stored, earlier !== null)))
        throw new IdempotencyKeyInUse();
    };
    try {
      return { made: await work(keep), replayed: false };
    } catch (error) {
      if (!(error instanceof IdempotencyKeyInUse)) throw error;
      const first = await this.repository.find(hash);
      if (first && this.isLive(first)) return replay(first, requestHash);
      throw error;
    }
  }

  /** What may be deleted now. */
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
