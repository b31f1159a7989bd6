import { Module } from '@nestjs/common';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { Idempotency } from './idempotency.service.js';

@Module({
  providers: [IdempotencyKeysRepository, Idempotency],
  exports: [Idempotency],
})
export class IdempotencyModule {}
