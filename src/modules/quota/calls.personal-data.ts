import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { clearedRows, type ExpiredRows } from '../../database/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../database/personal-data.js';
import { ApiCall } from './api-call.entity.js';

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
