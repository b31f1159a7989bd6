import { SCOPES } from '../../../src/platform/access/scopes.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { Cluster } from '../../support/cluster.js';
import { CommandLine, runCommandProcess } from '../../support/command-line.js';
import { connect, dumpTables, onOneEngine, tablesContaining } from '../../support/database.js';
import { ANAS_TEXTS, twoMembers } from '../../support/fixtures.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import { startProcess } from '../../support/service-process.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';

const REDIRECT_URI = 'https://garden.example/callback';
const APP = ['--name', 'Garden Share', '--redirect-uri', REDIRECT_URI, '--scope', SCOPES.join(' ')];
/** Two processes on one database need one pepper. */
const ENV = { DEMO: '0', OTP_PEPPER: 'a pepper of at least 32 characters' };

interface Erased {
  tables: Record<string, number>;
}

onOneEngine('Command "user erase" in two processes', (database) => {
  const app = useTestApp(database);

  it(
    'erases a user once and decrements each counter once when it runs twice at the same time',
    { timeout: 60_000 },
    async () => {
      const { ana, bensPost } = await twoMembers(app(), '+14155557003');
      const processes = new CommandLine(database, runCommandProcess);
      const runs = await Promise.all(
        [0, 1].map(() => processes.run('user', 'erase', ana.id, '--yes', '--json')),
      );
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        [0, 1].map(() => ({ code: 0, stderr: '' })),
      );
      const { dataSource } = app();
      expect(await dataSource.manager.findOneBy(Post, { id: bensPost })).toMatchObject({
        commentCount: 1,
        likeCount: 1,
      });
      expect(tablesContaining(await dumpTables(dataSource), ana.id)).toEqual(['audit_events']);
      const erased = runs.map(({ stdout }) => (JSON.parse(stdout) as Erased).tables);
      const sum = (table: string): number =>
        erased.reduce((total, tables) => total + (tables[table] ?? 0), 0);
      expect({ posts: sum('posts'), comments: sum('comments'), users: sum('users') }).toEqual({
        posts: 2,
        comments: 4,
        users: 1,
      });
    },
  );
});

onOneEngine('Command "user erase" while the service runs', (database) => {
  const { name, post } = ANAS_TEXTS;
  const phone = '+14155559001';
  const cli = new CommandLine(database);
  beforeAll(async () => {
    await cli.run('db', 'migrate');
  });

  it(
    'leaves no personal data in the logs of the services or in the database',
    { timeout: 60_000 },
    async () => {
      const settings = { url: database.url, env: ENV };
      const [first, second] = [await startProcess(settings), await startProcess(settings)];
      const site = new Cluster(first.baseUrl, [first]);
      const { id } = await cli.json<{ id: string }>(
        'user',
        'add',
        '--phone',
        phone,
        '--name',
        name,
      );
      const registered = await cli.json('app', 'create', ...APP);
      const client = {
        clientId: String(registered.client_id),
        secret: String(registered.client_secret),
        redirectUris: [REDIRECT_URI],
        scopes: SCOPES,
        kind: 'confidential',
      } as unknown as TestClient;
      const code = (await approve(site, { phone } as UserWithPhone, client)).get('code') ?? '';
      const { access_token } = await json<TokenBody>(await exchange(site, client, code));
      const headers = {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/json',
      };
      const body = JSON.stringify({ content: post });
      const published = await site.fetch('/dev/v1/posts', { method: 'POST', headers, body });
      expect(published.status).toBe(201);
      const me = (): Promise<Response> => fetch(`${second.baseUrl}/dev/v1/me`, { headers });
      expect((await me()).status).toBe(200);
      const processes = new CommandLine(database, runCommandProcess);
      const erased = await processes.run('user', 'erase', id, '--yes');
      expect(erased).toMatchObject({ code: 0, stderr: '' });
      expect((await me()).status).toBe(401);
      await Promise.all([first.stop(), second.stop()]);
      const printed = first.output() + second.output() + erased.stdout;
      for (const word of [phone, phone.slice(1), name, post, id])
        expect(printed).not.toContain(word);
      const dataSource = await connect(database.url);
      try {
        const left = await dumpTables(dataSource);
        expect(tablesContaining(left, phone, name, post)).toEqual([]);
        expect(tablesContaining(left, id)).toEqual(['audit_events']);
        expect(left.get('api_calls')).toContain('GET /dev/v1/me');
      } finally {
        await dataSource.destroy();
      }
    },
  );
});
