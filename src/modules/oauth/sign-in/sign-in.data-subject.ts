import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import {
  expiredRows,
  type ExpiredRows,
} from '../../../platform/database/retention/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../../platform/database/retention/data-subject.js';
import { TrustedDevice, OtpChallenge, OtpFailures, SignInSession } from './sign-in.entities.js';
import { OtpLimits } from './otp-limits.js';

/** How a person signed in. What is counted by phone is known while the person has one. */
@Injectable()
export class SignInPersonalData extends PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly limits: OtpLimits,
  ) {
    super();
  }

  override held({ userId, phone }: Person): PersonalRows[] {
    const { dataSource } = this;
    const byPhone = phone === null ? [] : [{ phone }];
    return [
      personalRows(dataSource, SignInSession, [{ userId }], ['hash', 'userId']),
      personalRows(dataSource, OtpChallenge, byPhone, ['codeHash']),
      personalRows(dataSource, OtpFailures, byPhone),
      personalRows(dataSource, TrustedDevice, byPhone, ['browserHash']),
    ];
  }

  /** What a browser of its own was counted by is only known from the browser: the hits go first. */
  override erased({ userId, phone }: Person): ExpiredRows[] {
    const byPhone = <T extends { phone: string }>(entity: EntityTarget<T>): ExpiredRows =>
      expiredRows<T>(this.dataSource, entity, { phone } as never, 'phone');
    return [
      expiredRows(this.dataSource, SignInSession, { userId }, 'userId'),
      ...(phone === null
        ? []
        : [
            byPhone(OtpChallenge),
            byPhone(OtpFailures),
            this.limits.attemptsOf(phone),
            byPhone(TrustedDevice),
          ]),
    ];
  }
}
