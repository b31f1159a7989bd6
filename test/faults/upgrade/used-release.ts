import { randomUUID } from 'node:crypto';
import { startCluster } from '../../support/cluster.js';
import { connect, type TestDatabase } from '../../support/database.js';
import {
  dump,
  releasedDatabase,
  type ReleasedDatabase,
  releasedVersion,
  restore,
} from '../../support/released.js';
import { IS_QUICK } from '../../suite.js';
import { publisherIn } from './kept-rows.js';
import { Visits } from './visits.js';

const RELEASE = '1.0.0';

/**
 * The database of the first release, which that release itself has served: a user signed in, allowed an app, published with a key,
 * commented and refreshed a token. Without the history, and in a quick run, as it was kept.
 */
export async function usedDatabase(database: TestDatabase): Promise<ReleasedDatabase> {
  const kept = await releasedDatabase(RELEASE, database);
  await restore(database, kept);
  const version = IS_QUICK ? undefined : await releasedVersion(RELEASE);
  if (version === undefined) return kept;
  const site = await startCluster({ url: database.url, version }, 1);
  const dataSource = await connect(database.url);
  try {
    const { user, client, token } = await publisherIn(dataSource, () => site);
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
    const visits = new Visits(() => site, user, client);
    await expect.poll(() => visits.done, { timeout: 10_000 }).toBeGreaterThan(0);
    await visits.stop();
  } finally {
    await dataSource.destroy();
    await site.stop();
  }
  return dump(database);
}
