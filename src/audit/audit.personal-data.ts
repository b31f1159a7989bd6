import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import { clearedRows, type ExpiredRows } from '../database/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../database/personal-data.js';
import { AuditEvent } from './audit-event.entity.js';

/** Events about a person. They stay with the id, as who did what must be provable, and lose the address. */
@Injectable()
export class AuditPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, AuditEvent, [{ userId }])];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    const where = { userId, address: Not(IsNull()) };
    return [clearedRows(this.dataSource, AuditEvent, where, 'userId', { address: null })];
  }
}
