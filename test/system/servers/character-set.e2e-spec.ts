import { runCommand } from '../../support/command-line.js';
import { connect, onEachServer } from '../../support/database.js';
import { startPrivateServer } from '../../support/database-server.js';
import { ordinaryUser } from '../../support/database-user.js';
import { Member } from '../../support/member.js';
import { findProgram } from '../../support/programs.js';
import { json } from '../../support/responses.js';
import { runSql } from '../../support/sql.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { startupErrorMessage } from '../../../src/platform/lifecycle/startup-error.js';
import { TestApp } from '../../support/test-app.js';

/** Greek and Thai letters, and a character of four bytes. */
const TEXT = 'Καλημέρα, สวัสดี \u{1F33B}';

/** Publishes a text and reads it back. Returns what the database stores, too. */
async function publishAndRead(url: string): Promise<{ read: string; stored: string }> {
  const app = await TestApp.start({ url });
  try {
    const member = await Member.join(app);
    const { id } = await member.publish({ content: TEXT });
    const { content } = await json<{ content: string }>(await member.get(`/posts/${id}`));
    const [row] = await runSql(url, `SELECT HEX(content) AS content FROM posts WHERE id = '${id}'`);
    const stored = Buffer.from(String(row?.content), 'hex').toString('utf8');
    return { read: content, stored };
  } finally {
    await app.stop();
  }
}

onEachServer('Character set of connections that the server overrides', (database) => {
  const { serverUrl = '' } = database.engine;

  it.each([
    'SET NAMES latin1',
    'SET NAMES utf8mb3',
    'SET character_set_results = latin1',
    'SET character_set_results = NULL',
    'SET character_set_client = latin1, character_set_connection = latin1',
    'SET collation_connection = latin1_german1_ci',
    'SET autocommit = 1; SET NAMES latin1',
  ])('C149 stores and returns texts unchanged after init_connect = "%s"', async (statement) => {
    const { url, drop } = await ordinaryUser(serverUrl);
    try {
      await runSql(serverUrl, `SET GLOBAL init_connect = '${statement}'`);
      expect(await publishAndRead(url)).toEqual({ read: TEXT, stored: TEXT });
      const doctor = await runCommand(['doctor'], { DATABASE_URL: url });
      expect(doctor.stdout).toContain('character set');
      expect(doctor.stdout).not.toContain('latin1');
    } finally {
      await runSql(serverUrl, `SET GLOBAL init_connect = ''`);
      await drop();
    }
  });
});

describe.skipIf((await findProgram('mariadbd')) === undefined)(
  'Character set of connections [private MariaDB]',
  () => {
    it('C149 stores and returns texts unchanged if the server ignores the client (skip-character-set-client-handshake)', async () => {
      const server = await startPrivateServer('mariadb', {
        settings: ['--skip-character-set-client-handshake', '--character-set-server=latin1'],
      });
      try {
        const serverUrl = server?.url ?? '';
        await runSql(serverUrl, 'CREATE DATABASE handshake');
        const texts = await publishAndRead(`${serverUrl}/handshake`);
        expect(texts).toEqual({ read: TEXT, stored: TEXT });
      } finally {
        await server?.stop();
      }
    });
  },
);

onEachServer('Character set that cannot be set', (database) => {
  it('C149 refuses the connection with a sentence', async () => {
    const proxy = await TcpProxy.start(database.url);
    // The same length, so that the packet stays valid.
    proxy.replaceSql(
      'SET NAMES utf8mb4 COLLATE utf8mb4_bin',
      'SET NAMES latin1  COLLATE latin1_bin ',
    );
    try {
      const failure: unknown = await connect(proxy.url).catch((error: unknown) => error);
      expect(startupErrorMessage(failure)).toBe(
        'The database connection uses the character set latin1 instead of utf8mb4, so texts would be damaged: configure the proxy between the service and the database server not to change it.',
      );
    } finally {
      await proxy.stop();
    }
  });
});
