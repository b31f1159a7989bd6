import { execFileSync } from 'node:child_process';
import { DAY, HOUR, MINUTE } from '../../../src/platform/clock.js';
import {
  AccessToken,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import { Cluster } from '../../support/cluster.js';
import { runCommandProcess } from '../../support/command-line.js';
import { onEachServer, onOneEngine } from '../../support/database.js';
import { ordinaryUser } from '../../support/database-user.js';
import type { PostBody } from '../../support/member.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { runSql } from '../../support/sql.js';
import { TEST_LIMITS, useTestApp } from '../../support/test-app.js';

const APIA = 'Pacific/Apia';

onOneEngine('A service process in the time zone of Apia', (database) => {
  const app = useTestApp(database);
  let service: ServiceProcess;

  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    const env = { ...TEST_LIMITS, TZ: APIA, MIGRATE: '0', DEMO: '0' };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  it('O141 C79 is ready, stores and reports the default lifetimes, and returns and stores times in UTC', async () => {
    const offset = execFileSync(process.execPath, ['-p', 'new Date(0).getTimezoneOffset()'], {
      env: { TZ: APIA },
      encoding: 'utf8',
    });
    // Node knows the time zone: Apia was 660 minutes behind UTC in 1970.
    expect(offset.trim()).toBe('660');
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
    const client = await app().addClient();
    const site = new Cluster(service.baseUrl, [service]);
    const code = (await approve(site, await app().addUser(), client)).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(site, client, code));
    expect(tokens.expires_in).toBe(3600);
    const { dataSource } = app();
    for (const [entity, lifetime] of [
      [AccessToken, HOUR],
      [RefreshToken, 30 * DAY],
      [Grant, 180 * DAY],
    ] as const) {
      const [{ createdAt, expiresAt } = { createdAt: new Date(0), expiresAt: new Date(0) }] =
        await dataSource.manager.find<{ createdAt: Date; expiresAt: Date }>(entity);
      expect(expiresAt.getTime() - createdAt.getTime()).toBe(lifetime);
      expect(Math.abs(Date.now() - createdAt.getTime())).toBeLessThan(MINUTE);
    }

    const token = tokens.access_token;
    const before = new Date().toISOString();
    const { id, createdAt } = await json<PostBody>(
      await site.call(token, 'POST', '/posts', { content: 'Hi' }),
    );
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // The post was created between the request and now.
    expect([before, createdAt, new Date().toISOString()].toSorted()[1]).toBe(createdAt);
    expect(await json(await site.call(token, 'GET', `/posts/${id}`))).toMatchObject({ createdAt });
    const [row] = await dataSource.query<{ text: string }[]>(
      'SELECT CAST(created_at AS CHAR) AS text FROM posts WHERE id = ?',
      [id],
    );
    expect(row?.text).toBe(createdAt.replace('T', ' ').replace('Z', ''));
  });
});

const TEN_YEARS_SECONDS = 3650 * 24 * 3600;

onEachServer('Process of the command "prune"', ({ engine: { serverUrl = '' } }) => {
  it('C150 deletes nothing while the clock of the database is years ahead, and runs once it is right', async () => {
    const { url, drop } = await ordinaryUser(serverUrl);
    const settings = { DATABASE_URL: url };
    const prune = ['prune', '--yes', '--json'];
    const events = (): Promise<unknown> =>
      runSql(url, 'SELECT id, action FROM audit_events ORDER BY id');
    try {
      expect(await runCommandProcess(['db', 'migrate'], settings)).toMatchObject({ code: 0 });
      const before = await events();
      expect(before).toHaveLength(1);
      await runSql(
        serverUrl,
        `SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP() + ${TEN_YEARS_SECONDS}'`,
      );
      const { code, stdout, stderr } = await runCommandProcess(prune, settings);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^The job did not run, because the clock of this machine is 3153\d{5}\.\d s behind the database's: synchronize both machines with a time server \(NTP\)\.\n$/,
      );
      await runSql(serverUrl, `SET GLOBAL init_connect = ''`);
      expect(await events()).toEqual(before);
      expect(await runCommandProcess(prune, settings)).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await runSql(serverUrl, `SET GLOBAL init_connect = ''`);
      await drop();
    }
  });
});
