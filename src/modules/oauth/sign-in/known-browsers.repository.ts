import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { entities, type Transaction } from '../../../database/transaction.js';
import { upsert } from '../../../database/upsert.js';
import { KnownBrowser } from './known-browser.entity.js';

@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether somebody signed in with this phone in this browser before. */
  isKnown(browserHash: string, phone: string, tx?: Transaction): Promise<boolean> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.existsBy(KnownBrowser, { browserHash, phone });
  }

  /** The hashes of the browsers in which somebody signed in with this phone. */
  async findAll(phone: string): Promise<string[]> {
    const known = await this.dataSource.manager.findBy(KnownBrowser, { phone });
    return known.map(({ browserHash }) => browserHash);
  }

  remember(tx: Transaction, known: KnownBrowser): Promise<void> {
    return upsert(tx, KnownBrowser, known);
  }
}
