import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { expiredRows, type ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import {
  personalRows,
  type Person,
  type PersonalData,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { User } from './user.entity.js';

@Injectable()
export class UsersPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId: id }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, User, [{ id }])];
  }

  rowsToErase({ userId: id }: Person): ExpiredRows[] {
    return [expiredRows(this.dataSource, User, { id }, 'id')];
  }
}
