import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThanOrEqual, MoreThan, Or } from 'typeorm';
import { addMilliseconds, MINUTE } from '../../../platform/clock.js';
import { insertRow } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { AppSecret } from './client.entities.js';

/** Client secrets, in no particular order. A live secret has not expired. */
@Injectable()
export class AppSecretsRepository {
  constructor(private readonly dataSource: DataSource) {}

  findLive(clientId: string, now: Date): Promise<AppSecret[]> {
    const expiresAt = Or(IsNull(), MoreThan(now));
    return this.dataSource.manager.findBy(AppSecret, { clientId, expiresAt });
  }

  findLiveByHash(hashes: readonly string[], now: Date): Promise<AppSecret[]> {
    const expiresAt = Or(IsNull(), MoreThan(now));
    return this.dataSource.manager.findBy(AppSecret, { hash: In(hashes), expiresAt });
  }

  findAll(clientId: string, tx?: Transaction): Promise<AppSecret[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findBy(AppSecret, { clientId });
  }

  async insert(tx: Transaction, secret: AppSecret): Promise<void> {
    await insertRow(tx, AppSecret, secret);
  }

  /** Sets an earlier expiry. Returns false if the secret already expires by then. */
  async expire(tx: Transaction, id: string, expiresAt: Date): Promise<boolean> {
    const where = { id, expiresAt: Or(IsNull(), MoreThan(expiresAt)) };
    const { affected } = await entities(tx).update(AppSecret, where, { expiresAt });
    return affected === 1;
  }

  /** Writes the last use at most once a minute, so that busy apps do not write with every request. */
  async recordUse({ id, lastUsedAt }: AppSecret, now: Date): Promise<void> {
    const minuteAgo = addMilliseconds(now, -MINUTE);
    if (lastUsedAt !== null && lastUsedAt > minuteAgo) return;
    const where = { id, lastUsedAt: Or(IsNull(), LessThanOrEqual(minuteAgo)) };
    await this.dataSource.manager.update(AppSecret, where, { lastUsedAt: now });
  }
}
