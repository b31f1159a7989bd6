import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type Person,
  type PersonalData,
  personalRows,
  type PersonalRows,
} from '../../database/retention/data-subject.js';
import { deletableRows, type DeletableRows } from '../../database/retention/deletion-queries.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

@Injectable()
export class IdempotencyPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId }: Person): PersonalRows[] {
    const omit = ['hash', 'requestHash', 'userId'] as const;
    return [personalRows(this.dataSource, IdempotencyKey, { wheres: [{ userId }], omit })];
  }

  rowsToErase({ userId }: Person): DeletableRows[] {
    return [
      deletableRows(this.dataSource, IdempotencyKey, { where: { userId }, indexColumn: 'userId' }),
    ];
  }
}
