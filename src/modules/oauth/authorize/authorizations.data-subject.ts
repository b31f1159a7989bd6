import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../../platform/database/retention/data-subject.js';
import {
  expiredRows,
  type ExpiredRows,
} from '../../../platform/database/retention/expired-rows.js';
import { Authorization } from './authorization.entity.js';

/** Authorization requests that a person signed in for. */
@Injectable()
export class AuthorizationsPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    const omitted = ['userId', 'browserHash', 'tokenHash', 'codeChallenge'] as const;
    return [personalRows(this.dataSource, Authorization, [{ userId }], omitted)];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    return [expiredRows(this.dataSource, Authorization, { userId }, 'userId')];
  }
}
