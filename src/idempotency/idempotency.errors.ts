import { AppError } from '../common/errors.js';

/** Another request with this key has not ended yet, so that nobody knows its answer. */
export class IdempotencyKeyInUse extends AppError {
  static readonly code = 'idempotency_key_in_use';
  static readonly example =
    'Another request with this Idempotency-Key is still running. Send this one again in 1 second.';

  constructor() {
    super(IdempotencyKeyInUse.code, IdempotencyKeyInUse.example, {
      headers: { 'Retry-After': '1' },
    });
  }
}

/** The key belongs to a request that was another one. */
export class IdempotencyKeyReused extends AppError {
  static readonly code = 'idempotency_key_reused';
  static readonly example =
    'This Idempotency-Key was used for another request. Use a new key for every new request.';

  constructor() {
    super(IdempotencyKeyReused.code, IdempotencyKeyReused.example);
  }
}
