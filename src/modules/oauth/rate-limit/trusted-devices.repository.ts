import { Injectable } from '@nestjs/common';
import { DataSource, Not } from 'typeorm';
import { upsert } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { TrustedDevice } from './rate-limit.entities.js';

/**
 * Trusted devices: browsers that signed in with a phone before. Limits that strangers can exhaust do not apply to them. `browserHash`
 * is the SHA-256 of the browser's cookie; the phone is E.164. The table is `known_browsers`.
 */
@Injectable()
export class TrustedDevicesRepository {
  constructor(private readonly dataSource: DataSource) {}

  isTrusted(browserHash: string, phone: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(TrustedDevice, { browserHash, phone });
  }

  /** Whether someone signed in with this browser before, whatever the phone number. */
  isTrustedBrowser(browserHash: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(TrustedDevice, { browserHash });
  }

  save(tx: Transaction, device: TrustedDevice): Promise<void> {
    return upsert(tx, TrustedDevice, device);
  }

  /** Counts a wrong one-time password of the device. Returns the number of consecutive ones; 0 if the device is not trusted. */
  async countFailure(tx: Transaction, browserHash: string, phone: string): Promise<number> {
    const device = { browserHash, phone };
    await entities(tx).increment(TrustedDevice, device, 'failures', 1);
    return (await entities(tx).findOneBy(TrustedDevice, device))?.failures ?? 0;
  }

  async delete(tx: Transaction, browserHash: string, phone: string): Promise<void> {
    await entities(tx).delete(TrustedDevice, { browserHash, phone });
  }

  /** @param exceptHash a browser that remains trusted */
  async deleteAllOf(tx: Transaction, phone: string, exceptHash?: string): Promise<void> {
    const browserHash = exceptHash === undefined ? undefined : Not(exceptHash);
    await entities(tx).delete(TrustedDevice, { phone, ...(browserHash && { browserHash }) });
  }
}
