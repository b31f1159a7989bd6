import mysql, { type Connection } from 'mysql2/promise';
import { DURABLE_SETTINGS, type PrivateServer } from '../../support/server-by-command.js';
import { startPrivateServer } from '../../support/database-server.js';
import type { EngineKind } from '../../support/database.js';
import { runSql } from '../../support/sql.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const SERVICE_ACCOUNT = `service@'127.0.0.1'`;
const PASSWORD = 'of-the-service';
/** The smallest `max_connections` of MariaDB. */
const CONNECTION_LIMIT = 10;
const MAX_ATTEMPTS = 2 * CONNECTION_LIMIT;

/** A private database server behind a proxy. Tests break either of them. */
export class BreakableServer {
  /** Connections that take the place of those of the service. */
  private readonly otherConnections: Connection[] = [];

  private constructor(
    readonly server: PrivateServer,
    readonly network: TcpProxy,
  ) {}

  /** Undefined where no server of this kind is installed. */
  static async start(kind: Exclude<EngineKind, 'sqlite'>): Promise<BreakableServer | undefined> {
    const server = await startPrivateServer(kind, { settings: DURABLE_SETTINGS });
    if (server === undefined) return undefined;
    await runSql(server.url, 'CREATE DATABASE service');
    await runSql(server.url, `CREATE USER ${SERVICE_ACCOUNT} IDENTIFIED BY '${PASSWORD}'`);
    // The service does not use the account of an administrator, which may write to a read-only server and has a reserved connection.
    await runSql(server.url, `GRANT ALL ON service.* TO ${SERVICE_ACCOUNT}`);
    return new BreakableServer(server, await TcpProxy.start(server.url));
  }

  /** The `DATABASE_URL` of a service. */
  get url(): string {
    const url = new URL(this.network.url);
    return `mysql://service:${PASSWORD}@${url.host}/service`;
  }

  /** The administrator's URL of the database of the service, without the proxy: for setup and assertions. */
  get adminUrl(): string {
    return `${this.server.url}/service`;
  }

  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await runSql(this.server.url, `SET GLOBAL read_only = ${isReadOnly ? 'ON' : 'OFF'}`);
  }

  /** Closes the open connections, because the setting affects new ones only. */
  async setReadOnlyTransactions(isReadOnly: boolean): Promise<void> {
    const value = isReadOnly ? 'ON' : 'OFF';
    await runSql(this.server.url, `SET GLOBAL transaction_read_only = ${value}`);
    await this.network.cut('closed');
    await this.network.repair();
  }

  /** Closes the connections of the service and opens others, up to the limit of the server or of the database user. */
  async exhaustConnections(limit: 'server' | 'user'): Promise<void> {
    await runSql(
      this.server.url,
      limit === 'server'
        ? `SET GLOBAL max_connections = ${CONNECTION_LIMIT}`
        : `ALTER USER ${SERVICE_ACCOUNT} WITH MAX_USER_CONNECTIONS ${CONNECTION_LIMIT}`,
    );
    await this.network.cut('closed');
    while (this.otherConnections.length < MAX_ATTEMPTS) {
      try {
        const connection = await mysql.createConnection({
          uri: this.server.url,
          user: 'service',
          password: PASSWORD,
        });
        this.otherConnections.push(connection.on('error', () => undefined));
      } catch {
        break;
      }
    }
    await this.network.repair();
  }

  /** Closes the other connections, raises the limit of the server and removes the limit of the database user. */
  async releaseConnections(): Promise<void> {
    for (const connection of this.otherConnections.splice(0)) connection.destroy();
    await expect
      .poll(() => runSql(this.server.url, 'SET GLOBAL max_connections = 500').then(() => true))
      .toBe(true);
    await runSql(this.server.url, `ALTER USER ${SERVICE_ACCOUNT} WITH MAX_USER_CONNECTIONS 0`);
  }

  async stop(): Promise<void> {
    this.server.resume();
    for (const connection of this.otherConnections) connection.destroy();
    await this.network.stop();
    await this.server.stop();
  }
}
