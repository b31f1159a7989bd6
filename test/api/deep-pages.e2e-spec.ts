import { newId } from '../../src/common/ids.js';
import { insertAll } from '../../src/database/insert.js';
import { TransactionRunner } from '../../src/database/transaction.js';
import { Post } from '../../src/modules/posts/post.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PageBody, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const POSTS = 10_120;
const LIMIT = 50;
const INSERTED_AT_ONCE = 500;

onOneEngine('A page deep in a list of 10,120 posts, by its number', (database) => {
  const app = useTestApp(database);
  let member: Member;
  /** Newest first. */
  let ids: string[];
  beforeAll(async () => {
    member = await Member.join(app());
    const newest = await app().dataSource.manager.findOneByOrFail(Post, {
      id: (await member.publish()).id,
    });
    const older = Array.from({ length: POSTS - 1 }, (_, place) => {
      const createdAt = new Date(newest.createdAt.getTime() - 1000 * (place + 1));
      return { ...newest, createdAt, id: newId('post', createdAt), clientId: null };
    });
    for (let from = 0; from < older.length; from += INSERTED_AT_ONCE)
      await app()
        .service(TransactionRunner)
        .run((tx) => insertAll(tx, Post, older.slice(from, from + INSERTED_AT_ONCE)));
    const { manager } = app().dataSource;
    await manager.update(User, { id: member.user.id }, { postCount: POSTS });
    ids = [newest, ...older].map(({ id }) => id);
  });

  const links = (answer: Response): string => answer.headers.get('link') ?? '';

  it.each([101, 102, 103, 150, 202])('page %d has its items and goes on', async (page) => {
    const answer = await member.get(`/posts?limit=${LIMIT}&page=${page}`);
    const { data, meta } = await json<PageBody<PostBody>>(answer);
    const from = (page - 1) * LIMIT;
    expect(data.map(({ id }) => id)).toEqual(ids.slice(from, from + LIMIT));
    expect(meta).toEqual({ page, limit: LIMIT, total: POSTS });
    expect(links(answer)).toContain('rel="next"');
  });

  it('the last page has what is left, and does not go on', async () => {
    const answer = await member.get(`/posts?limit=${LIMIT}&page=203`);
    const { data } = await json<PageBody<PostBody>>(answer);
    expect(data.map(({ id }) => id)).toEqual(ids.slice(202 * LIMIT));
    expect(links(answer)).not.toContain('rel="next"');
  });

  it.each([204, 1_000_000])('page %d is empty', async (page) => {
    const answer = await member.get(`/posts?limit=${LIMIT}&page=${page}`);
    const { data, meta } = await json<PageBody<PostBody>>(answer);
    expect({ data, meta }).toEqual({ data: [], meta: { page, limit: LIMIT, total: POSTS } });
    expect(links(answer)).not.toContain('rel="next"');
  });

  it('no more than half of the list is skipped', async () => {
    const statements = await app().statementsOf(() => member.get(`/posts?limit=${LIMIT}&page=202`));
    const pages = statements.filter((statement) => statement.includes('OFFSET'));
    expect(pages).toEqual([expect.stringContaining('ORDER BY id LIMIT')]);
  });
});
