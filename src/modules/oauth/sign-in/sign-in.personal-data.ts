import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import { expiredRows, type ExpiredRows } from '../../../database/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../../database/personal-data.js';
import { Authorization } from '../authorize/authorization.entity.js';
import { KnownBrowser } from './known-browser.entity.js';
import { OtpBudgets } from './otp-budgets.js';
import { OtpChallenge } from './otp-challenge.entity.js';
import { OtpFailures } from './otp-failures.entity.js';
import { SignInSession } from './sign-in-session.entity.js';

/** How a person signed in. What is counted by phone is known while the person has one. */
@Injectable()
export class SignInPersonalData extends PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly budgets: OtpBudgets,
  ) {
    super();
  }

  override held({ userId, phone }: Person): PersonalRows[] {
    const { dataSource } = this;
    const byPhone = phone === null ? [] : [{ phone }];
    return [
      personalRows(dataSource, SignInSession, [{ userId }], ['hash', 'userId']),
      personalRows(
        dataSource,
        Authorization,
        [{ userId }],
        ['userId', 'browserHash', 'tokenHash', 'codeChallenge'],
      ),
      personalRows(dataSource, OtpChallenge, byPhone, ['codeHash']),
      personalRows(dataSource, OtpFailures, byPhone),
      personalRows(dataSource, KnownBrowser, byPhone, ['browserHash']),
    ];
  }

  /** What a browser of its own was counted by is only known from the browser: the hits go first. */
  override erased({ userId, phone }: Person): ExpiredRows[] {
    const byUser = <T extends { userId: string | null }>(entity: EntityTarget<T>): ExpiredRows =>
      expiredRows<T>(this.dataSource, entity, { userId } as never, 'userId');
    const byPhone = <T extends { phone: string }>(entity: EntityTarget<T>): ExpiredRows =>
      expiredRows<T>(this.dataSource, entity, { phone } as never, 'phone');
    return [
      byUser(SignInSession),
      byUser(Authorization),
      ...(phone === null
        ? []
        : [
            byPhone(OtpChallenge),
            byPhone(OtpFailures),
            this.budgets.hitsOf(phone),
            byPhone(KnownBrowser),
          ]),
    ];
  }
}
