import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { startupErrorMessage } from '../../../src/platform/lifecycle/startup-error.js';
import { expectFailure, runCommand, runCommandProcess } from '../../support/command-line.js';
import { connect, onEachServer } from '../../support/database.js';
import { startPrivateServer } from '../../support/database-server.js';
import { ordinaryUser } from '../../support/database-user.js';
import { useFolder } from '../../support/folder.js';
import { findProgram } from '../../support/programs.js';
import { startProcess } from '../../support/service-process.js';
import { runSql } from '../../support/sql.js';

const IMPORTED_USERS = 3000;

/** What an operator sees when the service or a command cannot connect. */
async function startupError(url: string): Promise<string> {
  const failure: unknown = await connect(url).then(
    (source) => source.destroy(),
    (error: unknown) => error,
  );
  return failure === undefined ? 'connected' : startupErrorMessage(failure);
}

onEachServer('Database server that refuses the service', ({ engine }) => {
  const { kind, serverUrl = '' } = engine;

  it.each<[string, string, string]>([
    [
      'has no privileges',
      `REVOKE ALL ON USER.* FROM USER@'%'; REVOKE SELECT ON *.* FROM USER@'%'`,
      'The user of DATABASE_URL may not use the database: GRANT SELECT, INSERT, ',
    ],
    [
      'is locked',
      `ALTER USER USER@'%' ACCOUNT LOCK`,
      'The user of DATABASE_URL is locked: ALTER USER <user> ACCOUNT UNLOCK; (',
    ],
    [
      'must change its password',
      `ALTER USER USER@'%' PASSWORD EXPIRE`,
      'The user of DATABASE_URL must change its password: ALTER USER <user> IDENTIFIED BY ',
    ],
    [
      'has another password',
      `ALTER USER USER@'%' IDENTIFIED BY 'another-password'`,
      'The database rejected the user or password of DATABASE_URL. ',
    ],
  ])('says in one sentence that the user %s', async (_, statements, message) => {
    const { name, url, drop } = await ordinaryUser(serverUrl);
    try {
      for (const statement of statements.split('; '))
        await runSql(
          serverUrl,
          statement.replaceAll('USER.', `${name}.`).replaceAll('USER@', `${name}@`),
        );
      const error = await startupError(url);
      expect(error).toContain(message);
      expect(error).not.toContain('\n');
    } finally {
      await drop();
    }
  });

  it('says in one sentence that the user has too many connections', async () => {
    const { name, url, drop } = await ordinaryUser(serverUrl);
    await runSql(serverUrl, `ALTER USER ${name}@'%' WITH MAX_USER_CONNECTIONS 1`);
    const open = await mysql.createConnection(url);
    try {
      expect(await startupError(url)).toMatch(
        /^The database server allows no more connections: raise its max_connections, .*\)$/,
      );
    } finally {
      await open.end();
      await drop();
    }
  });

  it.skipIf(kind === 'mysql')(
    'says in one sentence that the user signs in by a method that is not supported',
    async ({ skip }) => {
      const { name, url, drop } = await ordinaryUser(serverUrl);
      try {
        const user = `${name}@'%'`;
        await runSql(serverUrl, `INSTALL SONAME 'auth_ed25519'`).catch(() => undefined);
        const isInstalled = await runSql(
          serverUrl,
          `ALTER USER ${user} IDENTIFIED VIA ed25519 USING PASSWORD('a-long-password')`,
        ).then(
          () => true,
          () => false,
        );
        skip(!isInstalled, 'The server does not have the plugin.');
        expect(await startupError(url)).toMatch(
          /^The user of DATABASE_URL signs in by a method that the service does not support: .*\)$/,
        );
      } finally {
        await drop();
      }
    },
  );

  it('migrates and stores although the server sets autocommit = 0 for all connections', async () => {
    const { url, drop } = await ordinaryUser(serverUrl);
    try {
      await runSql(serverUrl, `SET GLOBAL init_connect = 'SET autocommit = 0'`);
      const settings = { DATABASE_URL: url };
      expect(await runCommand(['db', 'migrate'], settings)).toMatchObject({ code: 0 });
      const added = ['user', 'add', '--name', 'Ana', '--phone', '+14155550100'];
      expect(await runCommand(added, settings)).toMatchObject({ code: 0 });
      const status = await runCommand(['db', 'status'], settings);
      expect(status.stdout).not.toContain('pending');
      const found = await runCommand(['user', 'search', '+14155550100'], settings);
      expect(found.stdout).toContain('Ana');
    } finally {
      await runSql(serverUrl, `SET GLOBAL init_connect = ''`);
      await drop();
    }
  });
});

describe.skipIf((await findProgram('mariadbd')) === undefined)(
  'Binary log of statements, few connections, and small packets [private MariaDB]',
  () => {
    it('are reported by doctor before the migration, and the log by the migration in one sentence', async () => {
      const server = await startPrivateServer('mariadb', {
        settings: [
          ...['--log-bin', '--binlog-format=STATEMENT'],
          ...['--max-connections=11', '--max-allowed-packet=512K'],
        ],
      });
      try {
        const serverUrl = server?.url ?? '';
        await runSql(serverUrl, 'CREATE DATABASE platform');
        const settings = { DATABASE_URL: `${serverUrl}/platform` };
        const doctor = await runCommand(['doctor'], settings);
        expect(doctor.stdout).toContain('binlog_format is STATEMENT, so no write succeeds.');
        expect(doctor.stdout).toContain(
          'SET GLOBAL binlog_format = ROW; then restart the service.',
        );
        expect(doctor.stdout).toContain('max_connections is 11, but one process and one command');
        expect(doctor.stdout).toContain('max_allowed_packet is 524288 bytes');
        const migration = await runCommand(['db', 'migrate'], settings);
        expect(migration.code).not.toBe(0);
        expect(migration.stderr).toContain('set binlog_format to ROW or MIXED');
        expect(migration.stderr).not.toContain('    at ');
        await runSql(serverUrl, 'SET GLOBAL binlog_format = ROW');
        expect(await runCommand(['db', 'migrate'], settings)).toMatchObject({ code: 0 });
        expect((await runCommand(['doctor'], settings)).stdout).not.toContain('binlog_format');
      } finally {
        await server?.stop();
      }
    });
  },
);

describe.skipIf((await findProgram('mariadbd')) === undefined)(
  'Connections that the server refuses [private MariaDB]',
  () => {
    /** Also as the service and a command print it: they end, and say what to do on one line. */
    async function expectRefusal(url: string, sentence: string): Promise<void> {
      expect(await startupError(url)).toBe(sentence);
      const command = await runCommandProcess(['user', 'list'], { DATABASE_URL: url });
      expectFailure(command, sentence);
      const service = startProcess({ url, env: { MIGRATE: '0', DEMO: '0' } });
      await expect(service).rejects.toThrow(sentence);
    }

    it('are reported with what to do if no user may connect from this address (error 1130)', async () => {
      const server = await startPrivateServer('mariadb');
      try {
        const url = server?.url ?? '';
        await runSql(url, `RENAME USER tests@'127.0.0.1' TO tests@'10.0.0.%'`);
        await expectRefusal(
          `${url}/platform`,
          "The database server accepts no user from the address of this machine: create the user for this address, such as 'platform'@'10.0.0.%'. (Host '127.0.0.1' is not allowed to connect to this MariaDB server)",
        );
      } finally {
        await server?.stop();
      }
    });

    it('are reported with what to do if there are too many (error 1040)', async () => {
      const server = await startPrivateServer('mariadb', { settings: ['--max-connections=10'] });
      const open: mysql.Connection[] = [];
      try {
        const url = server?.url ?? '';
        await runSql(url, 'CREATE DATABASE platform');
        // An administrator gets one more.
        for (let count = 0; count < 11; count += 1) open.push(await mysql.createConnection(url));
        await expectRefusal(
          `${url}/platform`,
          'The database server allows no more connections: raise its max_connections, or the limit of the user, or lower DB_POOL_SIZE. (Too many connections)',
        );
      } finally {
        await Promise.all(open.map((connection) => connection.end()));
        await server?.stop();
      }
    });
  },
);

describe.skipIf((await findProgram('mariadbd')) === undefined)(
  'Packets of at most 1 MiB [private MariaDB]',
  () => {
    const folder = useFolder();

    it('suffice for an import of users with long photo addresses', async () => {
      const server = await startPrivateServer('mariadb', { settings: ['--max-allowed-packet=1M'] });
      try {
        const serverUrl = server?.url ?? '';
        await runSql(serverUrl, 'CREATE DATABASE platform');
        const settings = { DATABASE_URL: `${serverUrl}/platform` };
        expect(await runCommand(['db', 'migrate'], settings)).toMatchObject({ code: 0 });
        const file = join(folder, 'users.csv');
        const photo = `https://photos.example/${'p'.repeat(2000)}`;
        const lines = Array.from(
          { length: IMPORTED_USERS },
          (_, index) => `+1415555${String(1000 + index)},Member ${index},${photo}`,
        );
        await writeFile(file, ['phone,name,photo_url', ...lines, ''].join('\n'));
        for (const added of [IMPORTED_USERS, 0]) {
          const { code, stdout, stderr } = await runCommand(['user', 'import', file], settings);
          expect(stderr).toBe('');
          expect(code).toBe(0);
          expect(stdout).toMatch(new RegExp(`^added +${added}$`, 'm'));
        }
      } finally {
        await server?.stop();
      }
    });
  },
);
