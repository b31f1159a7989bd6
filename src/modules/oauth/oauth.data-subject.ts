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
} from '../../platform/database/retention/deletable-rows.js';
import { Authorization } from './authorize/authorization.entity.js';
import { OtpLimits } from './sign-in/otp-limits.js';
import {
  OtpChallenge,
  OtpFailures,
  SignInSession,
  TrustedDevice,
} from './sign-in/sign-in.entities.js';

/**
 * A user's sessions, one-time passwords, counts of wrong one-time passwords, trusted devices and authorization requests. The erasure
 * includes the counted attempts of rate limits. The export omits them, because their keys are hashes.
 */
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

  /** Lists the counted attempts before the trusted devices, because the devices are needed to find the attempts. */
  rowsToErase({ userId, phone }: Person): DeletableRows[] {
    const { dataSource } = this;
    const byPhone = <T extends { phone: string }>(entity: EntityTarget<T>): DeletableRows =>
      deletableRows<T>(dataSource, entity, { phone } as never, 'phone');
    const rowsOfPhone = (phoneNumber: string): DeletableRows[] => [
      byPhone(OtpChallenge),
      byPhone(OtpFailures),
      this.limits.attemptsOf(phoneNumber),
      byPhone(TrustedDevice),
    ];
    return [
      deletableRows(dataSource, SignInSession, { userId }, 'userId'),
      ...(phone === null ? [] : rowsOfPhone(phone)),
      deletableRows(dataSource, Authorization, { userId }, 'userId'),
    ];
  }
}
