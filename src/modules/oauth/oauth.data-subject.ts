import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import {
  type PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { expiredRows, type ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { Authorization } from './authorize/authorization.entity.js';
import { OtpLimits } from './sign-in/otp-limits.js';
import {
  OtpChallenge,
  OtpFailures,
  SignInSession,
  TrustedDevice,
} from './sign-in/sign-in.entities.js';

/** Sign-ins and pending authorization requests. Rows by phone are only found while the person has one. */
@Injectable()
export class SignInPersonalData implements PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly limits: OtpLimits,
  ) {}

  rowsToExport({ userId, phone }: Person): PersonalRows[] {
    const { dataSource } = this;
    const byPhone = phone === null ? [] : [{ phone }];
    const omitted = ['userId', 'browserHash', 'tokenHash', 'codeChallenge'] as const;
    return [
      personalRows(dataSource, SignInSession, [{ userId }], ['hash', 'userId']),
      personalRows(dataSource, OtpChallenge, byPhone, ['codeHash']),
      personalRows(dataSource, OtpFailures, byPhone),
      personalRows(dataSource, TrustedDevice, byPhone, ['browserHash']),
      personalRows(dataSource, Authorization, [{ userId }], omitted),
    ];
  }

  /** Attempts are found by the trusted devices, so they are deleted before them. */
  rowsToErase({ userId, phone }: Person): ExpiredRows[] {
    const { dataSource } = this;
    const byPhone = <T extends { phone: string }>(entity: EntityTarget<T>): ExpiredRows =>
      expiredRows<T>(dataSource, entity, { phone } as never, 'phone');
    const ofPhone = (ofNumber: string): ExpiredRows[] => [
      byPhone(OtpChallenge),
      byPhone(OtpFailures),
      this.limits.attemptsOf(ofNumber),
      byPhone(TrustedDevice),
    ];
    return [
      expiredRows(dataSource, SignInSession, { userId }, 'userId'),
      ...(phone === null ? [] : ofPhone(phone)),
      expiredRows(dataSource, Authorization, { userId }, 'userId'),
    ];
  }
}
