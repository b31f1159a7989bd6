import { Module } from '@nestjs/common';
import { Idempotency } from './idempotency.service.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

@Module({ providers: [IdempotencyKeysRepository, Idempotency], exports: [Idempotency] })
export class IdempotencyModule {}
