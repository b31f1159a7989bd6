import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Doctor } from '../../../src/modules/operations/doctor/doctor.service.js';
import { LANGUAGES } from '../../../src/pages/language.js';
import {
  parseFindings,
  runCommand,
  runCommandProcess,
  type Finding,
} from '../../support/command-line.js';
import { connect, onOneEngine, onEachServer, sqliteFile } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { runSql } from '../../support/sql.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';

const UNREACHABLE = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };
const SECRET = 'whsec_Zm91ciBob3JzZXMgaW4gYSBmaWVsZA==';

/** A production configuration without a name of the network. */
const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://dev.example',
  TRUST_PROXY: '10.0.0.0/24',
  OTP_PEPPER: 'a pepper of at least 32 characters',
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://127.0.0.1:1/',
  SMS_WEBHOOK_SECRET: SECRET,
};
const TWILIO = {
  SMS_SENDER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_AUTH_TOKEN: 'token',
  TWILIO_FROM: '+14155550100',
  // Refuses connections.
  TWILIO_API_URL: 'http://127.0.0.1:1',
};
const CHOSEN_ADDRESS = 'A client that reaches the port without the proxies chooses its IP address.';

async function findings(env: Record<string, string>): Promise<Finding[]> {
  return parseFindings(await runCommand(['doctor', '--json'], { METRICS_PORT: 'off', ...env }));
}

describe('Command "doctor" without a database', () => {
  it('reports each invalid setting and nothing else', async () => {
    const outcome = await runCommandProcess(['doctor', '--json'], { PORT: 'x', DB_POOL_SIZE: '0' });
    expect(parseFindings(outcome)).toEqual(
      ['PORT: must be a whole number.', 'DB_POOL_SIZE: must be at least 1.'].map((summary) => ({
        check: 'configuration',
        status: 'failed',
        summary,
        remedy: 'Correct the variable. .env.example lists the valid values.',
      })),
    );
  });

  it('reports an .env file in this folder that it did not read', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'platform-env-'));
    await writeFile(join(cwd, '.env'), "export PORT=3100\nOTP_PEPPER='secret'\nOTHER=x\nDEMO=\n");
    const unread = (env: Record<string, string>, nodeOptions: string[] = []): string[] => {
      const { PATH } = process.env;
      const settings = { PATH, NODE_ENV: 'test', ...UNREACHABLE, METRICS_PORT: 'off', ...env };
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...nodeOptions, resolve('dist/src/bundle/cli.js'), 'doctor', '--json'],
        { cwd, env: settings, encoding: 'utf8' },
      );
      return parseFindings({ code: status ?? -1, stdout, stderr })
        .map(({ summary }) => summary)
        .filter((summary) => summary.startsWith('.env: '));
    };
    const remedy =
      'start the program with "node --env-file=.env", or export the variables in your shell.';
    expect(unread({})).toEqual([
      `.env: the file in this folder was not read, and OTP_PEPPER, PORT are not set; ${remedy}`,
    ]);
    // Also if the configuration is invalid.
    expect(unread({ PORT: 'x' })).toEqual([
      `.env: the file in this folder was not read, and OTP_PEPPER is not set; ${remedy}`,
    ]);
    expect(unread({}, ['--env-file=.env'])).toEqual([]);
    expect(unread({ PORT: '3100', OTP_PEPPER: 'other' })).toEqual([]);
    await rm(cwd, { recursive: true });
  });

  it('runs the other checks during a database outage and prints no stack', async () => {
    const { code, stdout, stderr } = await runCommandProcess(['doctor'], {
      ...UNREACHABLE,
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

  // Where the environment is empty, the default of the variable causes the warning.
  it.each<[Record<string, string>, string]>([
    [{}, 'NODE_ENV is not production.'],
    [{}, 'PUBLIC_URL is not https.'],
    [{}, 'One-time passwords are printed to the log.'],
    [{}, 'hashed with the public default pepper'],
    [{ DEMO: '1' }, 'An empty database is seeded with demo data.'],
    [{ NODE_ENV: 'test', PUBLIC_URL: 'https://dev.example' }, 'no proxy is trusted'],
    [{ TRUST_PROXY: '1' }, CHOSEN_ADDRESS],
    [{ TRUST_PROXY: '2', HOST: '::' }, CHOSEN_ADDRESS],
    [{ TRUST_PROXY: '1', HOST: '0.0.0.0' }, CHOSEN_ADDRESS],
    [{ SMS_SENDER: 'file' }, 'One-time passwords are written to a file.'],
    [rateLimits({ 'phone-failures': UNLIMITED }), 'Guesses of one-time passwords are not limited.'],
    [{ ...TWILIO, TWILIO_FROM: 'garbage' }, 'TWILIO_FROM is the name garbage, which is lost in'],
    [
      { ...TWILIO, TWILIO_FROM: 'MGBank', OTP_COUNTRIES: 'MX,CA' },
      'TWILIO_FROM is the name MGBank',
    ],
  ])('warns of %j: %s', expectWarning);

  it('accepts a name as sender in other countries', async () => {
    const env = { ...TWILIO, TWILIO_FROM: 'MGBank', OTP_COUNTRIES: 'GB,FR' };
    const found = await findings({ ...UNREACHABLE, ...env });
    expect(found.filter(({ summary }) => summary.includes('TWILIO_FROM'))).toEqual([]);
  });

  it.each<[Record<string, string>, string]>([
    [{}, 'pages and messages say "Neighbourhood network".'],
    [{}, 'SITE_URL is not on another host'],
    [{ SITE_URL: 'https://dev.example/site' }, 'SITE_URL is not on another host'],
    [
      { OAUTH_ACCESS_TOKEN_SECONDS: '31536000' },
      'OAUTH_ACCESS_TOKEN_SECONDS is 31536000, more than 1 day',
    ],
    [{ OAUTH_GRANT_SECONDS: '63072000' }, 'OAUTH_GRANT_SECONDS is 63072000'],
    [
      { RATE_LIMITS: 'phone-failures=2000000000' },
      'The rate limit phone-failures=2000000000 limits nothing; its default is 10.',
    ],
    [{ RATE_LIMITS: 'address-messages-per-hour=0' }, 'address-messages-per-hour=0 limits nothing'],
    [{ RATE_LIMITS: 'wrong-codes-per-day=0' }, 'wrong-codes-per-day=0 limits nothing'],
    [{ RATE_LIMITS: 'sign-in-calls=0' }, 'sign-in-calls=0 limits nothing; its default is 60.'],
    [{ OTP_DAILY_TOTAL: 'unlimited' }, 'The number of text messages in a day is not limited.'],
    [{ LOG_LEVEL: 'silent' }, 'LOG_LEVEL is silent'],
    [{ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' }, 'METRICS_HOST is all addresses'],
    [{ METRICS_PORT: '9464', METRICS_HOST: '::' }, 'METRICS_HOST is all addresses'],
  ])('warns in production of %j: %s', (env, message) =>
    expectWarning({ ...PRODUCTION, ...env }, message),
  );

  async function expectWarning(env: Record<string, string>, message: string): Promise<void> {
    const found = await findings({ ...UNREACHABLE, ...env });
    const warnings = found.filter(({ check }) => check === 'configuration');
    expect(warnings.find(({ summary }) => summary.includes(message))).toMatchObject({
      status: 'warning',
      remedy: expect.stringMatching(/\S/),
    });
  }

  it.each<Record<string, string>>([
    { TRUST_PROXY: '1', HOST: '127.0.0.1' },
    { TRUST_PROXY: 'loopback', HOST: '0.0.0.0' },
    { TRUST_PROXY: '10.0.0.0/24' },
    { TRUST_PROXY: '0' },
  ])('does not warn of a chosen address with %j', async (env) => {
    const found = await findings({ ...UNREACHABLE, ...env });
    expect(found.filter(({ summary }) => summary.includes(CHOSEN_ADDRESS))).toEqual([]);
  });

  it('accepts a complete production configuration, with METRICS_HOST as the image sets it', async () => {
    const found = await findings({
      ...UNREACHABLE,
      ...PRODUCTION,
      NETWORK_NAME: 'Elm & Oak',
      SITE_URL: 'https://site.example',
      METRICS_PORT: '9464',
      METRICS_HOST: /METRICS_HOST=(\S+)/.exec(await readFile('Dockerfile', 'utf8'))?.[1] ?? '',
    });
    expect(found[0]).toEqual({
      check: 'configuration',
      status: 'ok',
      summary: 'The configuration is valid.',
    });
  });
});

describe('Command "doctor": external services', () => {
  let status = 200;
  let type = 'text/plain';
  let body = '';
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  let port = 0;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => server.close());

  async function finding(check: string, env: Record<string, string>): Promise<Finding> {
    const found = (await findings({ ...UNREACHABLE, ...env })).find((one) => one.check === check);
    if (!found) throw new Error(`The check ${check} has no finding.`);
    return found;
  }
  const webhook = (url: string) => ({
    SMS_SENDER: 'webhook',
    SMS_WEBHOOK_URL: url,
    SMS_WEBHOOK_SECRET: SECRET,
  });
  const twilio = () => ({ ...TWILIO, TWILIO_API_URL: `http://127.0.0.1:${port}` });

  it.each([
    [200, 'ok', ' responds.'],
    [401, 'ok', ' responds.'],
    [405, 'ok', ' responds.'],
    [301, 'failed', ' redirects (301). Messages are not sent to the new address.'],
    [307, 'failed', ' redirects (307). Messages are not sent to the new address.'],
    [404, 'warning', ' returned 404 to HEAD.'],
    [410, 'failed', ' returned 410: this URL is gone.'],
    [429, 'warning', ' returned 429.'],
    [503, 'warning', ' returned 503.'],
  ])('probes a webhook without sending a message: %d is %s', async (code, expected, words) => {
    status = code;
    requests.length = 0;
    const found = await finding('sms', webhook(`http://127.0.0.1:${port}/secret-path`));
    const summary = `The gateway at http://127.0.0.1:${port}${words}`;
    expect(found).toMatchObject({ status: expected, summary });
    expect(requests).toEqual(['HEAD /secret-path ']);
  });

  it('reports an unreachable webhook', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    expect(await finding('sms', webhook(`${origin}/secret-path`))).toEqual({
      check: 'sms',
      status: 'failed',
      summary: `The gateway at ${origin} could not be reached (ECONNREFUSED).`,
      remedy: `curl -v ${origin}`,
    });
  });

  const account = (state: string): string => JSON.stringify({ sid: 'AC1', status: state });
  const error = (code: number): string => JSON.stringify({ code, message: 'secret', status: 401 });
  it.each([
    [200, account('active'), 'ok', /^The gateway at \S+ responds\.$/],
    [200, account('suspended'), 'failed', /^The account of Twilio is suspended\.$/],
    [200, account('closed'), 'failed', /^The account of Twilio is closed\.$/],
    [200, '<h1>Welcome</h1>', 'failed', / is not Twilio: its response has no account\.$/],
    [200, '', 'failed', / is not Twilio: /],
    [200, 'null', 'failed', / is not Twilio: /],
    [302, '', 'failed', / redirects \(302\)\./],
    [401, '', 'failed', / rejects the credentials \(401\)\.$/],
    [
      401,
      error(20003),
      'failed',
      / rejects the credentials \(401, code 20003: the credentials are /,
    ],
    [404, error(20404), 'failed', / rejects the credentials \(404, code 20404: /],
    [429, error(20429), 'warning', / returned 429\.$/],
    [451, '', 'failed', / returned 451\.$/],
    [503, '', 'warning', / returned 503\.$/],
  ])('requests the Twilio account: %d %s is %s', async (code, text, expected, summary) => {
    [status, body] = [code, text];
    requests.length = 0;
    const found = await finding('sms', twilio());
    body = '';
    expect(found).toMatchObject({ status: expected, summary: expect.stringMatching(summary) });
    expect(JSON.stringify(found)).not.toContain('secret');
    const credentials = Buffer.from('AC1:token').toString('base64');
    expect(requests).toEqual([`GET /2010-04-01/Accounts/AC1.json Basic ${credentials}`]);
  });

  it.each([
    [200, JSON.stringify({ messages: [] }), 'ok', / responds\.$/],
    [200, '<h1>Welcome</h1>', 'failed', / is not Twilio: its response has no messages\.$/],
    [401, error(20003), 'failed', / rejects the credentials \(401, code 20003: /],
  ])(
    'requests what a standard API key of Twilio may read: %d %s is %s',
    async (code, text, expected, summary) => {
      [status, body] = [code, text];
      requests.length = 0;
      const key = { TWILIO_API_KEY: 'SK1', TWILIO_API_SECRET: 'secret' };
      const found = await finding('sms', { ...twilio(), ...key });
      body = '';
      expect(found).toMatchObject({ status: expected, summary: expect.stringMatching(summary) });
      const credentials = Buffer.from('SK1:secret').toString('base64');
      expect(requests).toEqual([
        `GET /2010-04-01/Accounts/AC1/Messages.json?PageSize=1 Basic ${credentials}`,
      ]);
    },
  );

  const inEach = (text: string): string => LANGUAGES.map((tag) => `${text} (${tag})`).join(', ');

  it.each([
    ['Elm & Oak', 'ok', `A one-time password has ${inEach('1 segment')}.`],
    [
      'Vecinos de León',
      'warning',
      `A one-time password costs more than one text message: ${inEach('2 segments')}, because the alphabet of text messages (GSM 03.38) lacks ó (U+00F3).`,
    ],
  ])('says what a message of %s costs: %s', async (name, expected, summary) => {
    const found = await findings({ ...UNREACHABLE, NETWORK_NAME: name });
    expect(found.filter(({ check }) => check === 'sms')[1]).toMatchObject({
      status: expected,
      summary,
    });
  });

  it('checks that messages can be written to their file', async () => {
    const toFile = { SMS_SENDER: 'file', SMS_FILE: 'package.json/sms.jsonl' };
    expect(await finding('sms', toFile)).toMatchObject({
      status: 'failed',
      summary: expect.stringMatching(/package\.json is not a folder\.$/),
    });
    expect(await finding('sms', { ...toFile, SMS_FILE: 'data/a/b/sms.jsonl' })).toMatchObject({
      status: 'ok',
    });
  });

  it('distinguishes the metrics of the service from another program and from a free port', async () => {
    status = 200;
    type = 'text/plain; version=0.0.4';
    const on = { HOST: '127.0.0.1', METRICS_PORT: String(port) };
    expect((await finding('metrics', on)).status).toBe('ok');
    type = 'text/html';
    expect(await finding('metrics', on)).toMatchObject({
      status: 'failed',
      summary: expect.stringContaining('Another program responds'),
    });
    const free = String(await freePort());
    expect((await finding('metrics', { METRICS_PORT: free })).status).toBe('warning');
    expect((await finding('metrics', { METRICS_PORT: free, PORT: free })).status).toBe('failed');
  });
});

describe('Command "doctor" on SQLite', () => {
  const { url } = sqliteFile();

  it('reports a file that cannot be created and pending migrations', async () => {
    const found = await findings({ DATABASE_URL: 'sqlite:package.json/x.sqlite' });
    expect(found.find(({ check }) => check === 'storage')).toMatchObject({
      status: 'failed',
      summary: expect.stringMatching(/package\.json is not a folder\.$/),
    });
    expect(found.at(-1)).toMatchObject({ check: 'database', status: 'failed' });
    expect(found.at(-1)?.summary).not.toContain('\n');

    await (await connect(url)).destroy();
    const pending = await findings({ DATABASE_URL: url });
    expect(pending.find(({ check }) => check === 'migrations')).toMatchObject({
      status: 'failed',
      remedy: 'devplatform db migrate',
    });
    expect(pending.at(-1)).toEqual({
      check:
        'permissions, counters, phones, test mode, sign-in, events, quota, documentation, jobs',
      status: 'warning',
      summary: 'Skipped while migrations are pending.',
    });
  });
});

onOneEngine('Command "doctor": clock', (database) => {
  const app = useTestApp(database);

  it('reports that the clock of the process differs from the clock of a database server', async () => {
    app().databaseClock.useReal();
    app().clock.set(new Date(Date.now() + 60_000).toISOString());
    const found = await app().service(Doctor).run({});
    const clock = found.find(({ check }) => check === 'clock');
    if (database.engine.kind === 'sqlite') expect(clock?.status).toBe('ok');
    else
      expect(clock).toMatchObject({
        status: 'failed',
        summary: expect.stringMatching(/^The clock of this machine is \d\d\.\d s ahead of the/),
        remedy: 'Synchronize both machines with a time server (NTP).',
      });
  });
});

onEachServer('Command "doctor" on a server', (database) => {
  const app = useTestApp(database);
  const user = `doctor_${process.pid}`;
  const grant = (privileges: string): Promise<unknown> => {
    const name = new URL(database.url).pathname.slice(1);
    return runSql(database.url, `GRANT ${privileges} ON ${name}.* TO ${user}@'%'`);
  };
  const findingsAsUser = async (): Promise<Finding[]> => {
    const url = new URL(database.url);
    [url.username, url.password] = [user, 'Only-4-a-test'];
    return (await findings({ DATABASE_URL: url.href })).filter(
      ({ check }) => check === 'permissions' || check === 'database',
    );
  };
  beforeAll(() => runSql(database.url, `CREATE USER ${user}@'%' IDENTIFIED BY 'Only-4-a-test'`));
  afterAll(() => runSql(database.url, `DROP USER ${user}@'%'`));

  it('reports missing permissions', async () => {
    expect(await findingsAsUser()).toMatchObject([{ check: 'database', status: 'failed' }]);

    await grant('SELECT');
    expect((await findingsAsUser()).slice(1)).toMatchObject([
      { status: 'failed', summary: expect.stringContaining('The service cannot write. ') },
      { status: 'warning', remedy: expect.stringContaining('GRANT ALTER, CREATE, DROP, INDEX ON') },
    ]);

    await grant('INSERT, UPDATE, DELETE');
    expect((await findingsAsUser()).slice(1)).toMatchObject([
      { status: 'ok' },
      { status: 'warning' },
    ]);

    await grant('ALL PRIVILEGES');
    expect((await findingsAsUser()).slice(1)).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
  });

  it('reports a table that cannot store every character, and a database with another default collation, as after a restore under another name', async () => {
    const { dataSource } = app();
    const settings = async (): Promise<Finding[]> =>
      (await findings({ DATABASE_URL: database.url })).filter(({ check }) => check === 'settings');
    await dataSource.query('ALTER TABLE comments CONVERT TO CHARACTER SET latin1');
    const table = {
      check: 'settings',
      status: 'failed',
      summary: expect.stringMatching(
        /^The table comments does not use utf8mb4 with the collation utf8mb4_.*bin\.$/,
      ),
      remedy: expect.stringMatching(
        /^ALTER TABLE comments CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_.*bin;$/,
      ),
    };
    expect(await settings()).toEqual([table]);
    await dataSource.query('ALTER DATABASE COLLATE utf8mb4_general_ci');
    const warning = {
      check: 'settings',
      status: 'warning',
      summary: 'New tables would get the collation utf8mb4_general_ci.',
      remedy: expect.stringMatching(
        /^ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_.*bin;$/,
      ),
    };
    const found = await settings();
    expect(found.toSorted((one, other) => one.status.localeCompare(other.status))).toEqual([
      table,
      warning,
    ]);
    for (const { remedy = '' } of found) await dataSource.query(remedy);
    expect((await settings()).filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it('fails on a database in latin1, and each remedy can be pasted', async () => {
    const { dataSource } = app();
    const tables = await dataSource.query<{ name: string }[]>(
      `SELECT TABLE_NAME AS name FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'migrations'`,
    );
    for (const { name } of tables)
      await dataSource.query(`ALTER TABLE ${name} CONVERT TO CHARACTER SET latin1`);
    await dataSource.query('ALTER DATABASE CHARACTER SET latin1');
    const settings = async (): Promise<Finding[]> => {
      const outcome = await runCommandProcess(['doctor', '--json'], {
        DATABASE_URL: database.url,
        METRICS_PORT: 'off',
      });
      return parseFindings(outcome).filter(({ check }) => check === 'settings');
    };
    const found = await settings();
    const failures = found.filter(({ status }) => status === 'failed');
    expect(
      failures.map(({ summary }) => / (\w+) does not use utf8mb4 /.exec(summary)?.[1]),
    ).toEqual(expect.arrayContaining(tables.map(({ name }) => name)));
    expect(found.filter(({ status }) => status !== 'failed')).toMatchObject([
      { status: 'warning', summary: 'New tables would get the collation latin1_swedish_ci.' },
    ]);
    for (const { remedy = '' } of found) await dataSource.query(remedy);
    expect(await settings()).toMatchObject([{ status: 'ok' }]);
  });
});
