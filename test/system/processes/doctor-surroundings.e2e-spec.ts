import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Doctor } from '../../../src/operations/doctor/doctor.service.js';
import {
  parseFindings,
  runCommand,
  runCommandProcess,
  type Finding,
} from '../../support/command-line.js';
import { onOneEngine, onEachServer, sqliteFile } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { runSql } from '../../support/sql.js';
import { useTestApp } from '../../support/test-app.js';

const AWAY = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };
const SECRET = 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=';

async function examined(env: Record<string, string>): Promise<Finding[]> {
  return parseFindings(await runCommand(['doctor', '--json'], { METRICS_PORT: 'off', ...env }));
}

describe('The command "doctor" without its database', () => {
  it('tells of each setting that is wrong, and nothing else', async () => {
    const outcome = await runCommandProcess(['doctor', '--json'], { PORT: 'x', DB_POOL_SIZE: '0' });
    expect(parseFindings(outcome)).toEqual(
      ['PORT: must be a whole number.', 'DB_POOL_SIZE: must be at least 1.'].map((summary) => ({
        check: 'configuration',
        status: 'failed',
        summary,
        remedy: 'Correct the variable: .env.example tells what it takes.',
      })),
    );
  });

  it('examines the rest when the database is away, and shows no stack', async () => {
    const { code, stdout, stderr } = await runCommandProcess(['doctor'], {
      ...AWAY,
      METRICS_PORT: 'off',
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '1 check failed.\n' });
    expect(stdout).toMatch(/^warning {2}configuration: NODE_ENV is not production\.$/m);
    expect(stdout).toMatch(/^ok {7}metrics: Metrics are off\.$/m);
    expect(stdout).toMatch(
      /^failed {3}database: The database of DATABASE_URL cannot be reached: /m,
    );
    expect(stdout).not.toMatch(/^\s*at /m);
  });

  it.each([
    ['no production', {}, 'NODE_ENV is not production.'],
    ['http', {}, 'PUBLIC_URL is not https.'],
    ['a demo', { DEMO: '1' }, 'An empty database is filled with a demo.'],
    ['printed passwords', {}, 'One-time passwords are printed to the log.'],
    ['a known pepper', {}, 'stored under a key that everybody knows'],
    ['no proxy', { PUBLIC_URL: 'https://dev.example' }, 'no proxy is trusted'],
    ['a file of passwords', { SMS_SENDER: 'file' }, 'One-time passwords are written to a file.'],
    ['endless guesses', { OTP_PHONE_FAILURES: '0' }, 'Nothing limits guesses'],
  ])('warns of %s', async (_title, env, sentence) => {
    const found = await examined({ ...AWAY, ...env });
    const warnings = found.filter(({ check }) => check === 'configuration');
    expect(warnings.find(({ summary }) => summary.includes(sentence))).toMatchObject({
      status: 'warning',
      remedy: expect.stringMatching(/\S/),
    });
  });

  it('warns of nothing in a production that is set up', async () => {
    const found = await examined({
      ...AWAY,
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://dev.example',
      TRUST_PROXY: '1',
      OTP_PEPPER: 'x'.repeat(32),
      SMS_SENDER: 'webhook',
      SMS_WEBHOOK_URL: 'https://127.0.0.1:1/',
      SMS_WEBHOOK_SECRET: SECRET,
    });
    expect(found[0]).toEqual({
      check: 'configuration',
      status: 'ok',
      summary: 'The configuration is valid.',
    });
  });
});

describe('The command "doctor" at what is beside the service', () => {
  let status = 200;
  let type = 'text/plain';
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.writeHead(status, { 'content-type': type }).end();
  });
  let port = 0;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => server.close());

  async function finding(check: string, env: Record<string, string>): Promise<Finding> {
    const found = (await examined({ ...AWAY, ...env })).find((one) => one.check === check);
    if (!found) throw new Error(`Nothing was found about ${check}.`);
    return found;
  }
  const webhook = (at: string) => ({
    SMS_SENDER: 'webhook',
    SMS_WEBHOOK_URL: at,
    SMS_WEBHOOK_SECRET: SECRET,
  });
  const twilio = () => ({
    SMS_SENDER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC1',
    TWILIO_AUTH_TOKEN: 'token',
    TWILIO_FROM: '+14155550100',
    TWILIO_API_URL: `http://127.0.0.1:${port}`,
  });

  it.each([
    [405, 'ok', ' answers.'],
    [503, 'warning', ' is out of order (503).'],
  ])('knocks at a webhook without a message: %d is %s', async (answer, expected, words) => {
    status = answer;
    asked.length = 0;
    const found = await finding('sms', webhook(`http://127.0.0.1:${port}/secret-path`));
    const summary = `The gateway at http://127.0.0.1:${port}${words}`;
    expect(found).toMatchObject({ status: expected, summary });
    expect(asked).toEqual(['HEAD /secret-path ']);
  });

  it('says that a webhook cannot be reached', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    expect(await finding('sms', webhook(`${origin}/secret-path`))).toEqual({
      check: 'sms',
      status: 'failed',
      summary: `The gateway at ${origin} could not be reached (ECONNREFUSED).`,
      remedy: `curl -v ${origin}`,
    });
  });

  it.each([
    [200, 'ok', ' answers.'],
    [401, 'failed', ' refuses the account (401).'],
  ])('asks Twilio for the account: %d is %s', async (answer, expected, words) => {
    status = answer;
    asked.length = 0;
    const found = await finding('sms', twilio());
    expect(found).toMatchObject({ status: expected, summary: expect.stringContaining(words) });
    const credentials = Buffer.from('AC1:token').toString('base64');
    expect(asked).toEqual([`GET /2010-04-01/Accounts/AC1.json Basic ${credentials}`]);
  });

  it('says whether messages can be written to their file', async () => {
    const inAFile = { SMS_SENDER: 'file', SMS_FILE: 'package.json/sms.jsonl' };
    expect(await finding('sms', inAFile)).toMatchObject({
      status: 'failed',
      summary: expect.stringMatching(/package\.json is no folder\.$/),
    });
    expect(await finding('sms', { ...inAFile, SMS_FILE: 'data/a/b/sms.jsonl' })).toMatchObject({
      status: 'ok',
    });
  });

  it('tells metrics from another program, and from nothing', async () => {
    status = 200;
    type = 'text/plain; version=0.0.4';
    const on = { HOST: '127.0.0.1', METRICS_PORT: String(port) };
    expect((await finding('metrics', on)).status).toBe('ok');
    type = 'text/html';
    expect(await finding('metrics', on)).toMatchObject({
      status: 'failed',
      summary: expect.stringContaining('Another program answers'),
    });
    const free = String(await freePort());
    expect((await finding('metrics', { METRICS_PORT: free })).status).toBe('warning');
    expect((await finding('metrics', { METRICS_PORT: free, PORT: free })).status).toBe('failed');
  });
});

describe('The command "doctor" on a file of SQLite', () => {
  const { url } = sqliteFile();

  it('says that it cannot be made, and what is pending', async () => {
    const found = await examined({ DATABASE_URL: 'sqlite:package.json/x.sqlite' });
    expect(found.find(({ check }) => check === 'storage')).toMatchObject({
      status: 'failed',
      summary: expect.stringMatching(/package\.json is no folder\.$/),
    });
    expect(found.at(-1)).toMatchObject({ check: 'database', status: 'failed' });
    expect(found.at(-1)?.summary).not.toContain('\n');

    const pending = await examined({ DATABASE_URL: url });
    expect(pending.find(({ check }) => check === 'migrations')).toMatchObject({
      status: 'failed',
      remedy: 'npm run -s cli -- db migrate',
    });
    expect(pending.at(-1)).toEqual({
      check: 'permissions, counters, quota, jobs',
      status: 'warning',
      summary: 'Not looked at while migrations are pending.',
    });
  });
});

onOneEngine('The checks of the database', (database) => {
  const app = useTestApp(database);

  it('tell a clock that is wrong, where the database has one of its own', async () => {
    app().clock.set(new Date(Date.now() + 60_000).toISOString());
    const found = await app().service(Doctor).examine({});
    const clock = found.find(({ check }) => check === 'clock');
    if (database.engine.kind === 'sqlite') expect(clock?.status).toBe('ok');
    else
      expect(clock).toMatchObject({
        status: 'failed',
        summary: expect.stringMatching(/^The clock of this process is \d\d\.\d s ahead of the/),
        remedy: 'Synchronize both machines with a time server (NTP).',
      });
  });
});

onEachServer('The checks of a server', (database) => {
  const app = useTestApp(database);
  const user = `doctor_${process.pid}`;
  const name = (): string => new URL(database.url).pathname.slice(1);
  const asUser = async (): Promise<Finding[]> => {
    const url = new URL(database.url);
    [url.username, url.password] = [user, 'Only-4-a-test'];
    return (await examined({ DATABASE_URL: url.href })).filter(
      ({ check }) => check === 'permissions' || check === 'database',
    );
  };
  beforeAll(() => runSql(database.url, `CREATE USER ${user}@'%' IDENTIFIED BY 'Only-4-a-test'`));
  afterAll(() => runSql(database.url, `DROP USER ${user}@'%'`));

  it('tell what the user of the connection may do', async () => {
    expect(await asUser()).toMatchObject([{ check: 'database', status: 'failed' }]);

    await runSql(database.url, `GRANT SELECT ON ${name()}.* TO ${user}@'%'`);
    expect((await asUser()).slice(1)).toMatchObject([
      { status: 'failed', summary: expect.stringContaining('The service may not write. ') },
      { status: 'warning', remedy: expect.stringContaining('GRANT ALTER, CREATE, DROP, INDEX ON') },
    ]);

    await runSql(database.url, `GRANT INSERT, UPDATE, DELETE ON ${name()}.* TO ${user}@'%'`);
    expect((await asUser()).slice(1)).toMatchObject([{ status: 'ok' }, { status: 'warning' }]);

    await runSql(database.url, `GRANT ALL PRIVILEGES ON ${name()}.* TO ${user}@'%'`);
    expect((await asUser()).slice(1)).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
  });

  it('tell a table that cannot hold every character', async () => {
    await app().dataSource.query('ALTER TABLE comments CONVERT TO CHARACTER SET latin1');
    const found = await examined({ DATABASE_URL: database.url });
    expect(found.filter(({ check }) => check === 'settings')).toEqual([
      {
        check: 'settings',
        status: 'failed',
        summary: 'The table comments may not hold every character, or tell each from the other.',
        remedy: expect.stringMatching(
          /^ALTER TABLE comments CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_.*bin;$/,
        ),
      },
    ]);
  });

  it('tell a database that would make tables of another kind, as one that was restored under another name', async () => {
    await app().dataSource.query('ALTER DATABASE COLLATE utf8mb4_general_ci');
    const told = (await examined({ DATABASE_URL: database.url })).filter(
      ({ check, status }) => check === 'settings' && status === 'warning',
    );
    expect(told).toMatchObject([
      {
        summary: 'Tables of later versions would be made with the collation utf8mb4_general_ci.',
        remedy: expect.stringMatching(
          /^ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_.*bin;$/,
        ),
      },
    ]);
    await app().dataSource.query(told[0]?.remedy ?? '');
    expect(
      (await examined({ DATABASE_URL: database.url })).map(({ summary }) => summary),
    ).not.toContain(told[0]?.summary);
  });
});
