import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { expiredRows, type ExpiredRows } from '../database/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../database/personal-data.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

@Injectable()
export class IdempotencyPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    const omit = ['hash', 'requestHash', 'userId'] as const;
    return [personalRows(this.dataSource, IdempotencyKey, [{ userId }], omit)];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    return [expiredRows(this.dataSource, IdempotencyKey, { userId }, 'userId')];
  }
}
