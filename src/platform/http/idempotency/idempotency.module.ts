import { Module } from '@nestjs/common';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { IdempotencyPersonalData } from './idempotency.data-subject.js';
import { Idempotency } from './idempotency.service.js';

@Module({
  providers: [IdempotencyKeysRepository, Idempotency, IdempotencyPersonalData],
  exports: [Idempotency, IdempotencyPersonalData],
})
export class IdempotencyModule {}
