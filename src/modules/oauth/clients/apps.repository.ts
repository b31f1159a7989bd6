import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThanOrEqual, MoreThan, Not, Or } from 'typeorm';
import { addMilliseconds, MINUTE } from '../../../platform/clock.js';
import { BatchLoader } from '../../../platform/database/batch-loader.js';
import {
  entityOf,
  insertAll,
  insertRow,
  type RawEntity,
  readRows,
  selectFrom,
  unchanged,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { NotFound } from '../../../platform/errors.js';
import { isId } from '../../../platform/ids.js';
import { corsOrigin } from '../protocol/redirect-uri.js';
import { type AppIdentity, parseOrigins } from './registration-values.js';
import { App, AppLogoPart, AppRedirectUri, AppSecret } from './client.entities.js';

const MAX_LOGO_PART_BYTES = 65_535;

/** Apps, their redirect URIs, client secrets and logos. A live secret has not expired. */
@Injectable()
export class AppsRepository {
  private readonly select: string;
  private readonly apps: BatchLoader<RawEntity<App>>;

  constructor(private readonly dataSource: DataSource) {
    this.select = selectFrom(dataSource, App);
    this.apps = new BatchLoader(dataSource, this.select, { clientId: 'client_id' });
  }

  /** Returns null if there is no such app. Does not query the database if the id is malformed. */
  async find(clientId: string, tx?: Transaction): Promise<App | null> {
    if (!isId('svc_app', clientId)) return null;
    const row = tx
      ? (await readRows<RawEntity<App>>(tx, `${this.select} client_id = ?`, [clientId]))[0]
      : await this.apps.find(clientId);
    return row ? entityOf(this.dataSource, App, row) : null;
  }

  /** @throws NotFound */
  async require(clientId: string, tx?: Transaction): Promise<App> {
    const app = await this.find(clientId, tx);
    if (!app)
      throw new NotFound('There is no app with this client_id. "app list" prints all apps.');
    return app;
  }

  findAll(tx?: Transaction): Promise<App[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.find(App, { order: { clientId: 'ASC' } });
  }

  async findRedirectUris(clientId: string, tx?: Transaction): Promise<string[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    const rows = await manager.find(AppRedirectUri, {
      where: { clientId },
      order: { position: 'ASC' },
    });
    return rows.map(({ uri }) => uri);
  }

  /** The redirect URIs of all apps by client id. */
  async findAllRedirectUris(): Promise<ReadonlyMap<string, string[]>> {
    const rows = await this.dataSource.manager.find(AppRedirectUri, {
      order: { clientId: 'ASC', position: 'ASC' },
    });
    const uris = new Map<string, string[]>();
    for (const { clientId, uri } of rows) uris.set(clientId, [...(uris.get(clientId) ?? []), uri]);
    return uris;
  }

  /** The oldest enabled public app with this redirect URI. */
  findPublicByRedirectUri(uri: string): Promise<App | null> {
    return this.dataSource.manager
      .createQueryBuilder(App, 'app')
      .innerJoin(AppRedirectUri, 'redirect', 'redirect.clientId = app.clientId')
      .where('redirect.uri = :uri', { uri })
      .andWhere("app.kind = 'public' AND app.status = 'enabled'")
      .orderBy('app.createdAt')
      .addOrderBy('app.clientId')
      .getOne();
  }

  /**
   * Whether an enabled public app has a redirect URI with this origin.
   * @param origin as `corsOrigin` returns it
   * @param clientId restricts the check to one app
   */
  async hasOrigin(origin: string, clientId?: string): Promise<boolean> {
    const redirects = this.dataSource.manager
      .createQueryBuilder(AppRedirectUri, 'redirect')
      .innerJoin(App, 'app', 'app.clientId = redirect.clientId')
      .where('redirect.origin = :origin', { origin })
      .andWhere("app.kind = 'public' AND app.status = 'enabled'");
    if (clientId !== undefined) redirects.andWhere('app.clientId = :clientId', { clientId });
    return redirects.getExists();
  }

  /**
   * Whether an enabled public app has registered this origin. Reads the origins of all such apps: only web views and extensions need
   * them, so they are few.
   * @param origin as for `hasOrigin`, or with another scheme
   * @param clientId restricts the check to one app
   */
  async hasRegisteredOrigin(origin: string, clientId?: string): Promise<boolean> {
    const apps = await this.dataSource.manager.find(App, {
      select: { clientId: true, origins: true },
      where: {
        ...(clientId !== undefined && { clientId }),
        kind: 'public',
        status: 'enabled',
        origins: Not(IsNull()),
      },
    });
    return apps
      .flatMap(({ origins }) => parseOrigins(origins))
      .some((registered) => (corsOrigin(registered) ?? registered) === origin);
  }

  async insert(tx: Transaction, app: App, redirectUris: readonly string[]): Promise<void> {
    await insertRow(tx, App, app);
    await this.insertRedirectUris(tx, app.clientId, redirectUris);
  }

  /**
   * Locks the app until the end of the transaction, by a write that changes nothing (SQLite has no SELECT FOR UPDATE). Must be the
   * first statement of the transaction.
   */
  async lock(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).update(App, { clientId }, { status: unchanged('status') });
  }

  async update(
    tx: Transaction,
    clientId: string,
    fields: Partial<
      Pick<
        App,
        'name' | 'scope' | 'requiresPkce' | 'origins' | 'reference' | 'test' | keyof AppIdentity
      >
    >,
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

  /** An enabled app's posts are never hidden. Returns false if the app already has this status or does not exist. */
  async changeStatus(tx: Transaction, clientId: string, status: App['status']): Promise<boolean> {
    const enabled = status === 'enabled';
    const { affected } = await entities(tx).update(
      App,
      { clientId, status: enabled ? 'disabled' : 'enabled' },
      { status, ...(enabled && { postsHiddenAt: null }) },
    );
    return affected === 1;
  }

  /** Returns false if the app is not disabled, or its posts are already hidden. */
  async hidePosts(tx: Transaction, clientId: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      App,
      { clientId, status: 'disabled', postsHiddenAt: IsNull() },
      { postsHiddenAt: now },
    );
    return affected === 1;
  }

  private async insertRedirectUris(
    tx: Transaction,
    clientId: string,
    redirectUris: readonly string[],
  ): Promise<void> {
    const rows = redirectUris.map((uri, position) => {
      return { clientId, position, uri, origin: corsOrigin(uri) ?? null };
    });
    await insertAll(tx, AppRedirectUri, rows);
  }

  findLiveSecrets(clientId: string, now: Date): Promise<AppSecret[]> {
    const expiresAt = Or(IsNull(), MoreThan(now));
    return this.dataSource.manager.findBy(AppSecret, { clientId, expiresAt });
  }

  findLiveSecretsByHash(hashes: readonly string[], now: Date): Promise<AppSecret[]> {
    const expiresAt = Or(IsNull(), MoreThan(now));
    return this.dataSource.manager.findBy(AppSecret, { hash: In(hashes), expiresAt });
  }

  /** In no particular order. */
  findSecrets(clientId: string, tx?: Transaction): Promise<AppSecret[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findBy(AppSecret, { clientId });
  }

  async insertSecret(tx: Transaction, secret: AppSecret): Promise<void> {
    await insertRow(tx, AppSecret, secret);
  }

  /** Sets an earlier expiry. Returns false if the secret already expires by then. */
  async expireSecret(tx: Transaction, id: string, expiresAt: Date): Promise<boolean> {
    const where = { id, expiresAt: Or(IsNull(), MoreThan(expiresAt)) };
    const { affected } = await entities(tx).update(AppSecret, where, { expiresAt });
    return affected === 1;
  }

  /** Writes the last use at most once a minute, so that busy apps do not write with every request. */
  async recordSecretUse({ id, lastUsedAt }: AppSecret, now: Date): Promise<void> {
    const minuteAgo = addMilliseconds(now, -MINUTE);
    if (lastUsedAt !== null && lastUsedAt > minuteAgo) return;
    const where = { id, lastUsedAt: Or(IsNull(), LessThanOrEqual(minuteAgo)) };
    await this.dataSource.manager.update(AppSecret, where, { lastUsedAt: now });
  }

  /** Undefined if the app has no logo. */
  async findLogo(clientId: string): Promise<Buffer | undefined> {
    const parts = await this.dataSource.manager.find(AppLogoPart, {
      where: { clientId },
      order: { position: 'ASC' },
    });
    return parts.length === 0 ? undefined : Buffer.concat(parts.map(({ content }) => content));
  }

  /** Replaces the logo; null removes it. Call it after the app is locked or inserted. */
  async replaceLogo(tx: Transaction, clientId: string, logo: Buffer | null): Promise<void> {
    await entities(tx).delete(AppLogoPart, { clientId });
    if (!logo) return;
    const count = Math.ceil(logo.length / MAX_LOGO_PART_BYTES);
    const parts = Array.from({ length: count }, (_, position) => {
      const start = position * MAX_LOGO_PART_BYTES;
      return { clientId, position, content: logo.subarray(start, start + MAX_LOGO_PART_BYTES) };
    });
    await insertAll(tx, AppLogoPart, parts);
  }
}
