import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../../platform/database/retention/data-subject.js';
import {
  clearedRows,
  type ExpiredRows,
} from '../../../platform/database/retention/expired-rows.js';
import { ApiCall } from '../quota.entities.js';

/** Calls that apps made for a person. They stay, as they are the app's, and forget whom they were made for. */
@Injectable()
export class CallsPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, ApiCall, [{ userId }], ['userId'])];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    return [clearedRows(this.dataSource, ApiCall, { userId }, 'userId', { userId: null })];
  }
}
