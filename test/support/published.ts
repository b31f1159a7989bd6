import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { QuotaUsage } from '../../src/modules/quota/quota-usage.entity.js';
import { Post } from '../../src/modules/posts/post.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { TestApp, TestClient } from './test-app.js';

/** The four places where a publish is counted, which must agree. */
export interface Published {
  posts: number;
  /** By the counters of the users. */
  counted: number;
  /** In the call log, as metered: a publish that is answered again is recorded once more, but not metered. */
  recorded: number;
  /** Of the app's quota, over all months. */
  used: number;
}

/** What an app has published in the name of these users, who use no other app and deleted nothing. */
export async function publishedBy(
  app: Pick<TestApp, 'dataSource'>,
  ...members: readonly { user: Pick<User, 'id'>; client: Pick<TestClient, 'clientId'> }[]
): Promise<Published> {
  const { manager } = app.dataSource;
  const clientId = members[0]?.client.clientId ?? '';
  const users = await Promise.all(
    members.map(({ user: { id } }) => manager.findOneByOrFail(User, { id })),
  );
  const usage = await manager.findBy(QuotaUsage, { clientId });
  return {
    posts: await manager.countBy(Post, { clientId }),
    counted: users.reduce((sum, { postCount }) => sum + postCount, 0),
    recorded: await manager.countBy(ApiCall, { clientId, metered: true }),
    used: usage.reduce((sum, { used }) => sum + used, 0),
  };
}

/** The same number in all four places. */
export function allAre(number: number): Published {
  return { posts: number, counted: number, recorded: number, used: number };
}
