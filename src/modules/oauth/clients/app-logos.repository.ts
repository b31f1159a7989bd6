import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { insertAll } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { AppLogoPart } from './client.entities.js';

const MAX_PART_BYTES = 65_535;

/** The bytes of the logos of apps. */
@Injectable()
export class AppLogosRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Undefined if the app has no logo. */
  async find(clientId: string): Promise<Buffer | undefined> {
    const parts = await this.dataSource.manager.find(AppLogoPart, {
      where: { clientId },
      order: { position: 'ASC' },
    });
    if (parts.length === 0) return undefined;
    return Buffer.concat(parts.map(({ content }) => content));
  }

  /** Call it after the app is locked or inserted. */
  async insert(tx: Transaction, clientId: string, logo: Buffer): Promise<void> {
    const count = Math.ceil(logo.length / MAX_PART_BYTES);
    const parts = Array.from({ length: count }, (_, position) => {
      const start = position * MAX_PART_BYTES;
      return { clientId, position, content: logo.subarray(start, start + MAX_PART_BYTES) };
    });
    await insertAll(tx, AppLogoPart, parts);
  }

  /** Call it after the app is locked. */
  async delete(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).delete(AppLogoPart, { clientId });
  }
}
