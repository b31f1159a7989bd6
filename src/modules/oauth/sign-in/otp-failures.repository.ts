import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { entities, type Transaction } from '../../../database/transaction.js';
import { upsert } from '../../../database/upsert.js';
import { OtpFailures } from './otp-failures.entity.js';

@Injectable()
export class OtpFailuresRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(phone: string): Promise<OtpFailures | null> {
    return this.dataSource.manager.findOneBy(OtpFailures, { phone });
  }

  /** The row of this phone, which no other transaction changes until this one ends, or null when there is none. */
  async hold(tx: Transaction, phone: string, now: Date): Promise<OtpFailures | null> {
    const { affected } = await entities(tx).update(OtpFailures, { phone }, { lastAt: now });
    return affected === 1 ? entities(tx).findOneBy(OtpFailures, { phone }) : null;
  }

  /** The same, with a row that counts nothing where there was none. */
  async open(tx: Transaction, phone: string, now: Date): Promise<OtpFailures> {
    await upsert(tx, OtpFailures, { phone, lastAt: now });
    return entities(tx).findOneByOrFail(OtpFailures, { phone });
  }

  /** Changes the row that this transaction holds. */
  async count(
    tx: Transaction,
    phone: string,
    counted: Pick<OtpFailures, 'failures' | 'lockedUntil'>,
  ): Promise<void> {
    await entities(tx).update(OtpFailures, { phone }, counted);
  }

  /** False when nothing was counted. */
  async delete(tx: Transaction, phone: string): Promise<boolean> {
    const { affected } = await entities(tx).delete(OtpFailures, { phone });
    return affected === 1;
  }
}
