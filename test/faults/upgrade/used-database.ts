import { randomUUID } from 'node:crypto';
import { Cluster } from '../../support/cluster.js';
import { connect, type TestDatabase } from '../../support/database.js';
import {
  dump,
  releasedDatabase,
  type ReleasedDatabase,
  buildOfRelease,
  restore,
} from '../../support/released.js';
import { startProcess } from '../../support/service-process.js';
import { IS_QUICK } from '../../suite.js';
import { signInPublisher } from './preserved-rows.js';
import { UNLIMITED_MESSAGES_1_0_0, Visits } from './visits.js';

const RELEASE = '1.0.0';

/**
 * The database of release 1.0.0 after that release has served requests: sign-in, consent, publish with a key, comment and refresh.
 * In a quick run, and without the git history to build the release, the database is the stored dump.
 */
export async function usedDatabase(database: TestDatabase): Promise<ReleasedDatabase> {
  const original = await releasedDatabase(RELEASE, database);
  await restore(database, original);
  const build = IS_QUICK ? undefined : await buildOfRelease(RELEASE);
  if (build === undefined) return original;
  const env = { ...UNLIMITED_MESSAGES_1_0_0, MIGRATE: '0', DEMO: '0' };
  const process = await startProcess({ url: database.url, build, env });
  const site = new Cluster(process.baseUrl, [process]);
  const dataSource = await connect(database.url);
  try {
    const { user, client, token } = await signInPublisher(dataSource, () => site);
    const published = await site.fetch('/dev/v1/posts', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ content: 'Plums, free to a good home' }),
    });
    expect(published.status).toBe(201);
    const visits = Visits.start(() => site, user, client);
    await expect.poll(() => visits.succeeded, { timeout: 10_000 }).toBeGreaterThan(0);
    await visits.stop();
  } finally {
    await dataSource.destroy();
    await site.stop();
  }
  return dump(database);
}
