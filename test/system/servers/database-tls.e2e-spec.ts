import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useFolder } from '../../support/folder.js';
import { startupErrorMessage } from '../../../src/platform/lifecycle/startup-error.js';
import { CertificateAuthority, readPem } from '../../support/certificates.js';
import { runCommand, runCommandProcess } from '../../support/command-line.js';
import type { PrivateServer } from '../../support/server-by-command.js';
import { startPrivateServer } from '../../support/database-server.js';
import { connect, onEachServer } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { findProgram } from '../../support/programs.js';
import { startProcess } from '../../support/service-process.js';
import { runSql } from '../../support/sql.js';

const CONNECTIONS = 10;
const isInstalled = (await findProgram('mariadbd')) !== undefined;

/** The message that an operator sees when the service or a command cannot connect. */
async function startupError(url: string, env: Record<string, string>): Promise<string> {
  try {
    const source = await connect(url, env);
    await source.destroy();
  } catch (error) {
    return startupErrorMessage(error);
  }
  throw new Error('The connection succeeded.');
}

/** The TLS cipher of each connection, with all connections of the pool in use at once; empty for plain text. */
async function ciphersOf(url: string, env: Record<string, string>): Promise<string[]> {
  const source = await connect(url, env);
  try {
    const busy = `SELECT SLEEP(0.2), VARIABLE_VALUE AS cipher FROM INFORMATION_SCHEMA.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'`;
    const results = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => source.query<{ cipher: string }[]>(busy)),
    );
    return results.map(([row]) => row?.cipher ?? '');
  } finally {
    await source.destroy();
  }
}

describe.skipIf(!isInstalled)('Database connections in TLS [MariaDB]', () => {
  const folder = useFolder();
  let authority: CertificateAuthority;
  let server: PrivateServer;
  /** Trusts the authority, and connects by the name in the certificate. */
  let env: Record<string, string>;
  let url: string;

  /** Replaces the certificate of the running server. */
  async function useCertificate(names: string, days?: number): Promise<void> {
    const { cert, key } = await authority.sign('next', { names, days });
    await copyFile(cert, join(folder, 'server.pem'));
    await copyFile(key, join(folder, 'server.key'));
    await asTests('FLUSH SSL');
  }

  /** Runs statements on the server as the user of the tests. */
  async function asTests(...statements: string[]): Promise<void> {
    const source = await connect(url, { DATABASE_SSL: 'required' });
    for (const statement of statements) await source.query(statement);
    await source.destroy();
  }

  beforeAll(async () => {
    authority = await CertificateAuthority.create(folder, 'authority');
    await authority.sign('server', { names: 'DNS:localhost,IP:127.0.0.1' });
    const started = await startPrivateServer('mariadb', {
      settings: ['ca', 'cert', 'key'].map(
        (kind) =>
          `--ssl-${kind}=${kind === 'ca' ? authority.cert : join(folder, `server.${kind === 'key' ? 'key' : 'pem'}`)}`,
      ),
    });
    if (started === undefined) throw new Error('MariaDB is not installed.');
    server = started;
    await runSql(server.url, 'CREATE DATABASE platform');
    await runSql(server.url, 'SET GLOBAL require_secure_transport = ON');
    url = `${server.url}/platform`;
    env = { DATABASE_SSL: 'verify-full', DATABASE_SSL_CA: authority.cert };
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
  });

  it('fails in plain text with one sentence', async () => {
    expect(await startupError(url, {})).toMatch(
      /^The database rejected the user or password of DATABASE_URL\. .*only TLS connections, set DATABASE_SSL\. \(Access denied for user 'tests'@'127\.0\.0\.1' \(using password: YES\)\)$/,
    );
  });

  it.each(['required', 'verify-ca', 'verify-full'])(
    'encrypts every connection of the pool with DATABASE_SSL=%s',
    async (mode) => {
      const ciphers = await ciphersOf(url, {
        DATABASE_SSL: mode,
        DATABASE_SSL_CA: mode === 'required' ? '' : authority.cert,
      });
      expect(ciphers).toHaveLength(CONNECTIONS);
      for (const cipher of ciphers) expect(cipher).toMatch(/^TLS_/);
    },
  );

  it('encrypts with a list of servers, by name and by address, and with a CA as text', async () => {
    const { port } = new URL(url);
    const closed = await freePort();
    const servers = `127.0.0.1:${closed},localhost:${port}`;
    const listed = url.replace(/@[^/]*/, `@${servers}`);
    const ciphers = await ciphersOf(listed, {
      ...env,
      DATABASE_SSL_CA: await readPem(authority.cert),
    });
    for (const cipher of ciphers) expect(cipher).toMatch(/^TLS_/);
  });

  it('migrates, serves, and runs commands and the doctor', async () => {
    const settings = { DATABASE_URL: url, ...env };
    expect(await runCommandProcess(['db', 'migrate'], settings)).toMatchObject({ code: 0 });
    const service = await startProcess({ url, env: { ...env, MIGRATE: '0', DEMO: '0' } });
    expect(await service.stop()).toBe(0);
    const added = await runCommand(
      ['user', 'add', '--name', 'Ana', '--phone', '+14155550100'],
      settings,
    );
    expect(added).toMatchObject({ code: 0 });
    expect(await runCommand(['doctor'], settings)).toMatchObject({ code: 0 });
  }, 60_000);

  it('reports a CA that did not sign the certificate', async () => {
    const other = await CertificateAuthority.create(folder, 'other');
    expect(await startupError(url, { ...env, DATABASE_SSL_CA: other.cert })).toMatch(
      /^The TLS connection to the database failed: .*\. Set DATABASE_SSL_CA to the CA that signed the certificate of the database server\.$/,
    );
  });

  it('trusts only the CAs of Node.js without DATABASE_SSL_CA', async () => {
    expect(await startupError(url, { DATABASE_SSL: 'verify-ca' })).toContain('Set DATABASE_SSL_CA');
  });

  it('reports a certificate for another host, by name and by address', async () => {
    await useCertificate('DNS:database.example,IP:192.0.2.1');
    expect(await startupError(url, env)).toMatch(/Use a name of that certificate as the host/);
    expect(await ciphersOf(url, { ...env, DATABASE_SSL: 'verify-ca' })).toHaveLength(CONNECTIONS);
    // Node.js compares an IP address with "localhost" if the driver names none.
    await useCertificate('DNS:localhost');
    expect(await startupError(url, env)).toMatch(/Use a name of that certificate as the host/);
  });

  it('reports an expired certificate', async () => {
    await useCertificate('DNS:localhost,IP:127.0.0.1', -1);
    expect(await startupError(url, env)).toMatch(
      /^The TLS connection to the database failed: certificate has expired\. Renew the certificate/,
    );
  });

  it('sends a client certificate', async () => {
    await useCertificate('DNS:localhost,IP:127.0.0.1');
    const client = await authority.sign('client', { names: 'DNS:client' });
    await asTests(
      `CREATE USER x509@'127.0.0.1' REQUIRE X509`,
      `GRANT ALL ON *.* TO x509@'127.0.0.1'`,
    );
    const withUser = new URL(url);
    withUser.username = 'x509';
    withUser.password = '';
    expect(await startupError(withUser.href, env)).toContain('rejected the user or password');
    const certificate = {
      DATABASE_SSL_CERT: client.cert,
      DATABASE_SSL_KEY: await readPem(client.key),
    };
    expect(await ciphersOf(withUser.href, { ...env, ...certificate })).toHaveLength(CONNECTIONS);
  });
});

onEachServer('Database server with its own TLS settings', ({ engine, url }) => {
  /** MySQL and MariaDB 11.4 and newer do at their first start. */
  const makesCertificate = !engine.label.startsWith('MariaDB 10');

  it.skipIf(makesCertificate)('reports a server without TLS', async () => {
    expect(await startupError(url, { DATABASE_SSL: 'required' })).toBe(
      'The database does not support TLS, which DATABASE_SSL requires: enable TLS on the server.',
    );
  });

  it.skipIf(!makesCertificate)(
    'encrypts to a server that made its certificate itself',
    async () => {
      const user = `tls_${randomBytes(4).toString('hex')}`;
      await runSql(url, `CREATE USER ${user}@'127.0.0.1' REQUIRE SSL`);
      try {
        await runSql(url, `GRANT ALL ON *.* TO ${user}@'127.0.0.1'`);
        const withUser = new URL(url);
        withUser.username = user;
        withUser.password = '';
        expect(await startupError(withUser.href, {})).toContain('set DATABASE_SSL');
        expect(await startupError(withUser.href, { DATABASE_SSL: 'verify-ca' })).toContain(
          'Set DATABASE_SSL_CA',
        );
        const source = await connect(withUser.href, { DATABASE_SSL: 'required' });
        const statements = Array.from({ length: CONNECTIONS }, () =>
          source.query<{ Value: string }[]>(`SHOW SESSION STATUS LIKE 'Ssl_cipher'`),
        );
        for (const [row] of await Promise.all(statements)) expect(row?.Value).toMatch(/^TLS_/);
        await source.destroy();
      } finally {
        await runSql(url, `DROP USER ${user}@'127.0.0.1'`);
      }
    },
  );
});
