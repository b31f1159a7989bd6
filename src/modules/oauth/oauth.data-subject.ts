import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import {
  type PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import {
  deletableRows,
  type DeletableRows,
} from '../../platform/database/retention/deletion-queries.js';
import { Authorization } from './authorize/authorization.entity.js';
import { PhoneLimits } from './sign-in/phone-limits.js';
import { OtpChallenge, OtpFailures, SignInSession } from './sign-in/sign-in.entities.js';
import { TrustedDevice } from './rate-limit/rate-limit.entities.js';

/**
 * A user's sessions, one-time passwords, counts of wrong one-time passwords, trusted devices and authorization requests. The erasure
 * includes the counted attempts of rate limits. The export omits them, because their keys are hashes.
 */
@Injectable()
export class SignInPersonalData implements PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly limits: PhoneLimits,
  ) {}

  rowsToExport({ userId, phone }: Person): PersonalRows[] {
    const { dataSource } = this;
    const byPhone = phone === null ? [] : [{ phone }];
    const omitted = ['userId', 'browserHash', 'tokenHash', 'codeChallenge'] as const;
    return [
      personalRows(dataSource, SignInSession, { wheres: [{ userId }], omit: ['hash', 'userId'] }),
      personalRows(dataSource, OtpChallenge, { wheres: byPhone, omit: ['codeHash'] }),
      personalRows(dataSource, OtpFailures, { wheres: byPhone }),
      personalRows(dataSource, TrustedDevice, { wheres: byPhone, omit: ['browserHash'] }),
      personalRows(dataSource, Authorization, { wheres: [{ userId }], omit: omitted }),
    ];
  }

  rowsToErase({ userId, phone }: Person): DeletableRows[] {
    const { dataSource } = this;
    const byPhone = <T extends { phone: string }>(entity: EntityTarget<T>): DeletableRows =>
      deletableRows<T>(dataSource, entity, { where: { phone } as never, indexColumn: 'phone' });
    const rowsOfPhone = (phoneNumber: string): DeletableRows[] => [
      byPhone(OtpChallenge),
      byPhone(OtpFailures),
      this.limits.rowsOf(phoneNumber),
      byPhone(TrustedDevice),
    ];
    return [
      deletableRows(dataSource, SignInSession, { where: { userId }, indexColumn: 'userId' }),
      ...(phone === null ? [] : rowsOfPhone(phone)),
      deletableRows(dataSource, Authorization, { where: { userId }, indexColumn: 'userId' }),
    ];
  }
}
