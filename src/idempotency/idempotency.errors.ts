import { AppError } from '../common/errors.js';

/** Another request with this key has not ended yet, so that nobody knows its answer. */
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

/** The key belongs to a request that was another one. */
export class IdempotencyKeyReused extends AppError {
  static readonly code = 'idempotency_key_reused';

  constructor() {
    super(
      IdempotencyKeyReused.code,
      'This Idempotency-Key was used for another request. Use a new key for every new request.',
    );
  }
}
