import { randomUUID } from 'node:crypto';
import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { newId } from '../../src/platform/ids.js';
import { sha256 } from '../../src/platform/secrets.js';
import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { ApiCall, QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser } from './browser.js';
import { authorizeLink, obtainTokens } from './oauth-flow.js';
import type { TestDatabase } from './database.js';
import { json, type TokenBody } from './responses.js';
import { type TestApp, type TestClient, flushDeferredWrites } from './test-app.js';

/** The `client_id` of the calls of `recordCalls`. No such app is registered; the call log does not check that. */
export const CALLER = 'svc_app_01h455vb4pex5vsknk084sn02q';

const BATCH_SIZE = 500;

/** Inserts one call record for each of these times. */
export async function recordCalls(
  { manager }: DataSource,
  moments: readonly (Date | string)[],
  call: Partial<ApiCall> = {},
): Promise<void> {
  const rows = moments.map((moment) => {
    const at = new Date(moment);
    return {
      at,
      id: newId('call', at),
      clientId: CALLER,
      userId: null,
      route: 'GET /dev/v1/me',
      status: 200,
      durationMs: 1,
      requestId: 'req_x',
      ...call,
    };
  });
  for (let from = 0; from < rows.length; from += BATCH_SIZE)
    await manager.insert(ApiCall, rows.slice(from, from + BATCH_SIZE));
}

/** Inserts `count` rows. `row` receives the number of the row, from 0, and the SHA-256 of that number. */
export async function insertMany<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  count: number,
  row: (number: number, hash: string) => ObjectLiteral,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) => row(number, sha256(String(number))));
  for (let from = 0; from < count; from += BATCH_SIZE)
    await dataSource.manager.insert(entity, rows.slice(from, from + BATCH_SIZE) as T[]);
}

/** Updates the optimizer statistics of every table, which the engine would do only later. */
export async function analyzeTables(
  { engine }: TestDatabase,
  dataSource: DataSource,
): Promise<void> {
  const analyze = engine.kind === 'sqlite' ? 'ANALYZE' : 'ANALYZE TABLE';
  for (const { tableName } of dataSource.entityMetadatas)
    await dataSource.query(`${analyze} ${tableName}`);
}

/** Deletes the rows of every table. Faster than TRUNCATE, which a server executes as DDL. */
export async function deleteAllRows({ entityMetadatas, manager }: DataSource): Promise<void> {
  for (const { target } of entityMetadatas)
    await manager.createQueryBuilder().delete().from(target).execute();
}

/** A second longer than the minimum interval between two messages to one phone (`phone-messages-per-minute`). */
const RESEND_MS = 61_000;

/** Texts that only Ana's rows contain. */
export const ANAS_TEXTS = {
  name: 'Ana Quetzal',
  neighborhood: 'Quetzal Hill',
  post: 'quetzal feathers to give away',
  deletedPost: 'a quetzal mistake',
  comment: 'the quetzal is mine',
};

/**
 * Ana and Ben sign in, publish, and like and comment on each other's posts. Every table with personal data then has rows of Ana.
 * Advances the clock between Ana's sign-ins, because a phone gets one message a minute.
 */
export async function twoMembers(app: TestApp, phone: string) {
  const { name, neighborhood } = ANAS_TEXTS;
  const ana = await app.addUser({ phone, name, neighborhood });
  const ben = await app.addUser();
  const client = await app.addClient();
  await mistypeCode(app, client, ana);
  app.clock.advance(RESEND_MS);
  const anas = await obtainTokens(app, client, ana);
  const bens = await obtainTokens(app, client, ben);
  const anasPost = await publish(app, anas, ANAS_TEXTS.post);
  const deletedPost = await publish(app, anas, ANAS_TEXTS.deletedPost);
  await app.call(anas.access_token, 'DELETE', `/posts/${deletedPost}`);
  const bensPost = await publish(app, bens, 'Ladder to lend');
  await app.service(PostsService).like(ana.id, bensPost);
  await app.service(PostsService).like(ben.id, bensPost);
  await app.service(PostsService).like(ben.id, anasPost);
  await comment(app, ana, anasPost, ben, 'May I have one?');
  await comment(app, ben, bensPost, ana, ANAS_TEXTS.comment);
  await comment(app, ben, bensPost, ana, ANAS_TEXTS.comment);
  const deletedComment = await comment(app, ben, bensPost, ana, ANAS_TEXTS.comment);
  await app.service(CommentsService).delete(ana.id, deletedComment);
  await comment(app, ben, bensPost, ben, 'It is 3 m long.');
  // This sign-in stays pending: Ana does not decide.
  app.clock.advance(RESEND_MS);
  await new Browser(app).signIn(authorizeLink(client), ana);
  app.clock.advance(RESEND_MS);
  await mistypeCode(app, client, ana);
  await flushDeferredWrites(app);
  return { ana, ben, client, anasTokens: anas, bensTokens: bens, anasPost, bensPost };
}

async function publish(
  app: TestApp,
  { access_token }: TokenBody,
  content: string,
): Promise<string> {
  const response = await app.fetch('/dev/v1/posts', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${access_token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ content }),
  });
  return (await json<{ id: string }>(response)).id;
}

async function comment(
  app: TestApp,
  owner: UserWithPhone,
  postId: string,
  author: UserWithPhone,
  text: string,
): Promise<string> {
  const draft = { text, parentId: null, authorId: author.id };
  return (await app.service(CommentsService).add(owner.id, postId, draft)).id;
}

/** Requests a one-time password and enters a wrong one. */
async function mistypeCode(app: TestApp, client: TestClient, user: UserWithPhone): Promise<void> {
  const visitor = new Browser(app);
  const earlier = app.sms.count(user.phone);
  const fields = { phone: user.phone };
  const phonePage = await visitor.open(authorizeLink(client));
  const page = await visitor.submit(phonePage, '/oauth/authorize/sign-in', fields);
  const code = await app.sms.password(user.phone, { afterMessages: earlier });
  const wrong = code === '000000' ? '000001' : '000000';
  await visitor.submit(page, '/oauth/authorize/verify', { code: wrong });
}

/** Four counts of published posts. They must be equal. */
export interface Published {
  posts: number;
  /** The sum of `users.post_count`. */
  postCount: number;
  /** Recorded calls that count against the quota. The replay of a publish is recorded, but does not count. */
  recorded: number;
  /** The used quota of the app, over all months. */
  used: number;
}

/** Counts the posts that one app published for `members`. The members must not use another app or delete posts. */
export async function countPublished(
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
    postCount: users.reduce((sum, { postCount }) => sum + postCount, 0),
    recorded: await manager.countBy(ApiCall, { clientId, metered: true }),
    used: usage.reduce((sum, { used }) => sum + used, 0),
  };
}

/** The counts after this number of posts: all four are equal. */
export function expectedCounts(number: number): Published {
  return { posts: number, postCount: number, recorded: number, used: number };
}
