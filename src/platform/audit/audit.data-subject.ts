import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import {
  type Person,
  type PersonalData,
  personalRows,
  type PersonalRows,
} from '../database/retention/data-subject.js';
import { type DeletableRows, rowsToClear } from '../database/retention/deletion-queries.js';
import { AuditEvent } from './audit-event.entity.js';

/** Erasure deletes the IP address from a user's events. The rest stays as evidence. */
@Injectable()
export class AuditPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, AuditEvent, { wheres: [{ userId }] })];
  }

  rowsToErase({ userId }: Person): DeletableRows[] {
    const where = { userId, address: Not(IsNull()) };
    return [
      rowsToClear(this.dataSource, AuditEvent, {
        where,
        indexColumn: 'userId',
        set: { address: null },
      }),
    ];
  }
}
