import { Module } from '@nestjs/common';
import {
  IdempotencyKeysRepository,
  IdempotencyPersonalData,
} from './idempotency-keys.repository.js';
import { Idempotency } from './idempotency.service.js';

@Module({
  providers: [IdempotencyKeysRepository, Idempotency, IdempotencyPersonalData],
  exports: [Idempotency, IdempotencyPersonalData],
})
export class IdempotencyModule {}
