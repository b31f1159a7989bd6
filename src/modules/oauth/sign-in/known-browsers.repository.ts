import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Transaction } from '../../../database/transaction.js';
import { upsert } from '../../../database/upsert.js';
import { KnownBrowser } from './known-browser.entity.js';

@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether somebody signed in with this phone in this browser before. */
  isKnown(browserHash: string, phone: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(KnownBrowser, { browserHash, phone });
  }

  remember(tx: Transaction, known: KnownBrowser): Promise<void> {
    return upsert(tx, KnownBrowser, known);
  }
}
