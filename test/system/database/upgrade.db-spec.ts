import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Migrator } from '../../../src/platform/database/migrations/migrator.js';
import {
  type Release,
  RELEASES as KNOWN_RELEASES,
} from '../../../src/platform/database/migrations/releases.js';
import { DemoToken } from '../../../src/modules/demo/demo-token.service.js';
import { ana, anasPosts, DEMO_CODE, DemoService } from '../../../src/modules/demo/demo.service.js';
import { AppsService } from '../../../src/modules/oauth/clients/apps.service.js';
import { UsersService } from '../../../src/modules/users/users.service.js';
import { WebhookEndpoints } from '../../../src/modules/webhooks/webhook-endpoints.service.js';
import { WebhookWorker } from '../../../src/modules/webhooks/webhook-worker.service.js';
import { Browser } from '../../support/browser.js';
import { connect, onEachEngine, onSqlite, type TestDatabase } from '../../support/database.js';
import { EventReceiver } from '../../support/event-receiver.js';
import type { PageBody, PostBody } from '../../support/member.js';
import {
  dump,
  fileOf,
  releasedDatabase,
  type ReleasedDatabase,
  restore,
  schemaOf,
} from '../../support/released.js';
import { json } from '../../support/responses.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { expectConsentPage } from '../../support/sign-in.js';
import { TestApp } from '../../support/test-app.js';

const RELEASES = (await readdir('test/released')) as Release[];
/** All their apps and members are real. */
const RELEASES_BEFORE_TEST_MODE = ['1.0.0', '1.1.0'];
const CHANGE = { actor: 'operator' };

/** Writes the database of the newest release in CHANGELOG.md, with the demo in it, to test/released. */
async function writeRelease(database: TestDatabase, app: TestApp): Promise<void> {
  const [, release = ''] =
    /^## (\d+\.\d+\.\d+)\b/m.exec(await readFile('CHANGELOG.md', 'utf8')) ?? [];
  await app.service(DemoService).seedIfNeeded();
  const file = fileOf(release, database);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(await dump(database), null, 2)}\n`);
}

/** `npm run db:release`, once for each release. */
function defineWriting(): void {
  onEachEngine('Database of a release', (database) => {
    it('is written with its schema and a demo', async () => {
      const app = await TestApp.start(database, { DEMO: '1' });
      await writeRelease(database, app);
      await app.stop();
    });
  });
}

function defineTests(): void {
  it('has a database of the newest release', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    expect(RELEASES).toContain(version);
  });

  it('names the newest migration of each release in src/platform/database/migrations/releases.ts', async () => {
    const newest = RELEASES.map(async (release) => {
      const stored = await readFile(`test/released/${release}/sqlite.json`, 'utf8');
      const { rows } = JSON.parse(stored) as ReleasedDatabase;
      return [release, rows['migrations']?.at(-1)?.['name']];
    });
    expect(KNOWN_RELEASES).toEqual(Object.fromEntries(await Promise.all(newest)));
  });

  describe.each(RELEASES)('Upgrade from %s', (release) => {
    onEachEngine('Database', (database) => {
      let app: TestApp | undefined;
      beforeAll(async () => {
        await restore(database, await releasedDatabase(release, database));
        app = await TestApp.start(database, { DEMO: '1' });
      });
      afterAll(() => app?.stop());

      it('has the schema of this version', async () => {
        const dataSource = await connect(database.url);
        const difference = await new Migrator(dataSource).difference();
        await dataSource.destroy();
        expect(difference).toEqual({ pending: [], unknown: [], statements: [] });
      });

      it('serves the data of the release', async () => {
        if (!app) throw new Error('The app has not started.');
        const token = await app.service(DemoToken).issue();
        const { data, meta } = await json<PageBody<PostBody>>(
          await app.call(token, 'GET', '/posts'),
        );
        expect(meta.total).toBe(anasPosts.length);
        expect(data.map(({ content }) => content).toSorted()).toEqual(
          anasPosts.map(({ draft }) => draft.content).toSorted(),
        );
        for (const { id } of data) {
          const analytics = await app.call(token, 'GET', `/posts/${id}/analytics`);
          expect(analytics.status).toBe(200);
        }
        const created = await app.call(token, 'POST', '/posts', { content: 'After the upgrade' });
        expect(created.status).toBe(201);
      });
    });

    onEachEngine('Database with events', (database) => {
      it('sends events of members and posts of the release, and reverts to its schema', async () => {
        await restore(database, await releasedDatabase(release, database));
        const schema = await schemaOf(database);
        const app = await TestApp.start(database);
        onTestFinished(() => app.stop());
        const receiver = await EventReceiver.start(() => app.clock.now());
        onTestFinished(() => receiver.stop());
        const [client] = await app.service(AppsService).list();
        if (!client) throw new Error('The released database has no app.');
        const endpoints = app.service(WebhookEndpoints);
        let secret = '';
        await endpoints.set(client.clientId, receiver.url, CHANGE, async (_endpoint, shown) => {
          secret = shown ?? '';
        });

        const token = await app.accessToken(ana, client);
        const posts = await json<PageBody<PostBody>>(await app.call(token, 'GET', '/posts'));
        const postId = posts.data[0]?.id ?? '';
        const path = `/posts/${postId}/comments`;
        const created = await app.call(token, 'POST', path, { text: 'After the upgrade' });
        expect(created.status).toBe(201);
        const worker = app.service(WebhookWorker);
        await worker.deliverDue();
        await worker.idle();
        expect(receiver.events(secret)).toMatchObject([
          { type: 'comment.created', data: { userId: ana.id, postId } },
        ]);

        const migrator = app.service(Migrator);
        const names = await migrator.revert(release, async () => {});
        expect(await schemaOf(database)).toEqual(schema);
        expect(await migrator.migrate()).toEqual(names.toReversed());
        // The endpoints are lost, except those of the release.
        const left = (await endpoints.all()).map(({ clientId }) => clientId);
        expect(left).toEqual(names.length === 0 ? [client.clientId] : []);
      });
    });
  });

  describe.each(RELEASES_BEFORE_TEST_MODE)('Upgrade from %s to test mode', (release) => {
    onEachEngine('Database with the demo', (database) => {
      it('makes the demo one in test mode, whose apps accept the fixed code', async () => {
        await restore(database, await releasedDatabase(release, database));
        const app = await TestApp.start(database, { DEMO: '1' });
        onTestFinished(() => app.stop());
        await app.service(DemoService).seedIfNeeded();
        const apps = await app.service(AppsService).list();
        expect(apps.map(({ test }) => test)).toEqual(apps.map(() => true));
        const released = apps.filter(({ clientId }) => clientId.startsWith('svc_app_0'));
        expect(released.length).toBeGreaterThan(1);
        for (const client of released) {
          const link = authorizeLink(client);
          expectConsentPage(await new Browser(app).signIn(link, { ...ana, code: DEMO_CODE }));
        }
        expect(app.sms.messages).toEqual([]);
      });
    });

    onEachEngine('Database without the demo', (database) => {
      it('keeps its apps and members real', async () => {
        await restore(database, await releasedDatabase(release, database));
        const app = await TestApp.start(database);
        onTestFinished(() => app.stop());
        const [client] = await app.service(AppsService).list();
        if (!client) throw new Error('The released database has no app.');
        expect(client).toMatchObject({ test: false, accessTokenSeconds: null });
        expect(await app.service(UsersService).testMembers()).toEqual([]);
        const link = authorizeLink(client);
        expectConsentPage(await new Browser(app).signIn(link, ana));
        expect(app.sms.count(ana.phone)).toBe(1);
      });
    });
  });

  describe('Released migrations', () => {
    onSqlite('Schema', (database) => {
      it.each(RELEASES)('is the same as in %s', async (release) => {
        const stored = await releasedDatabase(release, database);
        const names = (stored.rows['migrations'] ?? []).map(({ name }) => name);
        const dataSource = await connect(database.url);
        const released = dataSource.migrations.filter(({ name }) => names.includes(name));
        expect(released).toHaveLength(names.length);
        const runner = dataSource.createQueryRunner();
        for (const migration of released) await migration.up(runner);
        await runner.release();
        await dataSource.destroy();
        const withoutMigrationsTable = (statements: string[]) =>
          statements.filter((statement) => !/"migrations"/.test(statement));
        expect((await dump(database)).statements).toEqual(
          withoutMigrationsTable(stored.statements),
        );
      });
    });
  });
}

if (process.env.WRITE_RELEASE === undefined) defineTests();
else defineWriting();
