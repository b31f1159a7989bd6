import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { entities, type Transaction } from '../../../database/transaction.js';
import { AppRedirectUri } from './app-redirect-uri.entity.js';
import { AppSecret } from './app-secret.entity.js';
import { App } from './app.entity.js';

@Injectable()
export class AppsRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(clientId: string): Promise<App | null> {
    return this.dataSource.manager.findOneBy(App, { clientId });
  }

  findAll(): Promise<App[]> {
    return this.dataSource.manager.find(App, { order: { clientId: 'ASC' } });
  }

  async findRedirectUris(clientId: string): Promise<string[]> {
    const rows = await this.dataSource.manager.find(AppRedirectUri, {
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

  /** The secrets that open the app at `now`. */
  findLiveSecrets(clientId: string, now: Date): Promise<AppSecret[]> {
    return this.dataSource.manager
      .createQueryBuilder(AppSecret, 'secret')
      .where('secret.clientId = :clientId', { clientId })
      .andWhere('(secret.expiresAt IS NULL OR secret.expiresAt > :now)', { now })
      .orderBy('secret.id', 'DESC')
      .getMany();
  }

  async insert(tx: Transaction, app: App, redirectUris: readonly string[]): Promise<void> {
    await entities(tx).insert(App, app);
    await entities(tx).insert(
      AppRedirectUri,
      redirectUris.map((uri, position) => ({ clientId: app.clientId, position, uri })),
    );
  }

  async insertSecret(tx: Transaction, secret: AppSecret): Promise<void> {
    await entities(tx).insert(AppSecret, secret);
  }

  /** Lets the app's live secrets end at `end` at the latest. */
  async retireSecrets(tx: Transaction, clientId: string, end: Date): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .update(AppSecret)
      .set({ expiresAt: end })
      .where('clientId = :clientId', { clientId })
      .andWhere('(expiresAt IS NULL OR expiresAt > :end)', { end })
      .execute();
  }

  /** False when the app has this status already, or does not exist. */
  async changeStatus(tx: Transaction, clientId: string, status: App['status']): Promise<boolean> {
    const other = status === 'enabled' ? 'disabled' : 'enabled';
    const { affected } = await entities(tx).update(App, { clientId, status: other }, { status });
    return affected === 1;
  }
}
