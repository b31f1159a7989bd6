import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isDuplicateKey } from '../../../common/database-faults.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { KnownBrowser } from './known-browser.entity.js';

@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether somebody signed in with this phone in this browser before. */
  isKnown(browserHash: string, phone: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(KnownBrowser, { browserHash, phone });
  }

  async remember(tx: Transaction, known: KnownBrowser): Promise<void> {
    if (await this.renew(tx, known)) return;
    try {
      await entities(tx).insert(KnownBrowser, known);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await this.renew(tx, known);
    }
  }

  private async renew(
    tx: Transaction,
    { browserHash, phone, signedInAt }: KnownBrowser,
  ): Promise<boolean> {
    const key = { browserHash, phone };
    const { affected } = await entities(tx).update(KnownBrowser, key, { signedInAt });
    return affected === 1;
  }
}
