import { Module } from '@nestjs/common';
import { IdempotencyPersonalData } from './idempotency.personal-data.js';
import { Idempotency } from './idempotency.service.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

@Module({
  providers: [IdempotencyKeysRepository, Idempotency, IdempotencyPersonalData],
  exports: [Idempotency, IdempotencyPersonalData],
})
export class IdempotencyModule {}
