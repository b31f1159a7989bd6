import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { later, MINUTE } from '../../../platform/clock.js';
import { insertRow } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { AppSecret } from './client.entities.js';

/** `last_used_at` is written at most once in this time, so that a busy app does not write with every call. */
const USE_STEP_MS = MINUTE;

@Injectable()
export class AppSecretsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The secrets that open the app at `now`, in no order. */
  findLive(clientId: string, now: Date): Promise<AppSecret[]> {
    return this.dataSource.manager
      .createQueryBuilder(AppSecret, 'secret')
      .where('secret.clientId = :clientId', { clientId })
      .andWhere('(secret.expiresAt IS NULL OR secret.expiresAt > :now)', { now })
      .getMany();
  }

  /** Those of these secrets that open their app at `now`, in no order. */
  findLiveByHash(hashes: readonly string[], now: Date): Promise<AppSecret[]> {
    return this.dataSource.manager
      .createQueryBuilder(AppSecret, 'secret')
      .where('secret.hash IN (:...hashes)', { hashes })
      .andWhere('(secret.expiresAt IS NULL OR secret.expiresAt > :now)', { now })
      .getMany();
  }

  /** Those that have ended, too, in no order. */
  findAll(clientId: string, tx?: Transaction): Promise<AppSecret[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findBy(AppSecret, { clientId });
  }

  async insert(tx: Transaction, secret: AppSecret): Promise<void> {
    await insertRow(tx, AppSecret, secret);
  }

  /** Lets the secret end at `end`. False when it ends by then anyway. */
  async end(tx: Transaction, { id }: AppSecret, end: Date): Promise<boolean> {
    const { affected } = await entities(tx)
      .createQueryBuilder()
      .update(AppSecret)
      .set({ expiresAt: end })
      .where('id = :id', { id })
      .andWhere('(expiresAt IS NULL OR expiresAt > :end)', { end })
      .execute();
    return affected === 1;
  }

  /**
   * Writes down that the secret was used at `now`. No statement when that was done within the last minute; of several
   * callers at once, one writes. A statement on its own, outside of any unit of work.
   */
  async noteUse({ id, lastUsedAt }: AppSecret, now: Date): Promise<void> {
    const due = later(now, -USE_STEP_MS);
    if (lastUsedAt !== null && lastUsedAt > due) return;
    await this.dataSource.manager
      .createQueryBuilder()
      .update(AppSecret)
      .set({ lastUsedAt: now })
      .where('id = :id', { id })
      .andWhere('(lastUsedAt IS NULL OR lastUsedAt <= :due)', { due })
      .execute();
  }
}
