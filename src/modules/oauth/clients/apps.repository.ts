import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { insertAll, insertRow, readRows, unchanged } from '../../../platform/database/sql.js';
import { storedTime } from '../../../platform/database/columns.js';
import { BatchLoader } from '../../../platform/database/batch-loader.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { App, AppRedirectUri } from './client.entities.js';
import { callingOrigin } from '../protocol/redirect-uri.js';

/** A row as the drivers give it. */
interface Stored extends Omit<App, 'createdAt'> {
  createdAt: Date | string;
}

const FIND_APP = `
  SELECT client_id AS clientId, name, kind, scope, status, created_at AS createdAt
  FROM apps WHERE`;

@Injectable()
export class AppsRepository {
  private readonly apps: BatchLoader<Stored>;

  constructor(private readonly dataSource: DataSource) {
    this.apps = new BatchLoader(dataSource, FIND_APP, { clientId: 'client_id' });
  }

  async find(clientId: string, tx?: Transaction): Promise<App | null> {
    const app = tx
      ? (await readRows<Stored>(tx, `${FIND_APP} client_id = ?`, [clientId]))[0]
      : await this.apps.find(clientId);
    return app ? { ...app, createdAt: storedTime(app.createdAt) } : null;
  }

  findAll(): Promise<App[]> {
    return this.dataSource.manager.find(App, { order: { clientId: 'ASC' } });
  }

  async findRedirectUris(clientId: string, tx?: Transaction): Promise<string[]> {
    const rows = await this.managerOf(tx).find(AppRedirectUri, {
      where: { clientId },
      order: { position: 'ASC' },
    });
    return rows.map(({ uri }) => uri);
  }

  /** Those of every app, by client id. */
  async findAllRedirectUris(): Promise<ReadonlyMap<string, string[]>> {
    const rows = await this.dataSource.manager.find(AppRedirectUri, {
      order: { clientId: 'ASC', position: 'ASC' },
    });
    const uris = new Map<string, string[]>();
    for (const { clientId, uri } of rows) uris.set(clientId, [...(uris.get(clientId) ?? []), uri]);
    return uris;
  }

  async insert(tx: Transaction, app: App, redirectUris: readonly string[]): Promise<void> {
    await insertRow(tx, App, app);
    await this.insertRedirectUris(tx, app.clientId, redirectUris);
  }

  /**
   * Makes other units that lock this app wait until this one ends. A write that changes nothing, because SQLite has no other
   * lock; it must be the first statement of the unit.
   */
  async lock(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).update(App, { clientId }, { status: unchanged('status') });
  }

  async change(
    tx: Transaction,
    clientId: string,
    fields: Pick<App, 'name' | 'scope'>,
  ): Promise<void> {
    await entities(tx).update(App, { clientId }, fields);
  }

  async replaceRedirectUris(
    tx: Transaction,
    clientId: string,
    redirectUris: readonly string[],
  ): Promise<void> {
    await entities(tx).delete(AppRedirectUri, { clientId });
    await this.insertRedirectUris(tx, clientId, redirectUris);
  }

  /** False when the app has this status already, or does not exist. */
  async changeStatus(tx: Transaction, clientId: string, status: App['status']): Promise<boolean> {
    const other = status === 'enabled' ? 'disabled' : 'enabled';
    const { affected } = await entities(tx).update(App, { clientId, status: other }, { status });
    return affected === 1;
  }

  private async insertRedirectUris(
    tx: Transaction,
    clientId: string,
    redirectUris: readonly string[],
  ): Promise<void> {
    await insertAll(
      tx,
      AppRedirectUri,
      redirectUris.map((uri, position) => ({
        clientId,
        position,
        uri,
        origin: callingOrigin(uri) ?? null,
      })),
    );
  }

  private managerOf(tx: Transaction | undefined): EntityManager {
    return tx ? entities(tx) : this.dataSource.manager;
  }
}
