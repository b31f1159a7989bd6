import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { expiredRows, type ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { User } from './user.entity.js';

@Injectable()
export class UsersPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId: id }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, User, [{ id }])];
  }

  override erased({ userId: id }: Person): ExpiredRows[] {
    return [expiredRows(this.dataSource, User, { id }, 'id')];
  }
}
