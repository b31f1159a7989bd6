import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { addMilliseconds, MINUTE, DAY } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { Comment } from '../../src/modules/comments/comment.entity.js';
import { Post, PostLike } from '../../src/modules/posts/post.entities.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { ApiCall } from '../../src/modules/quota/quota.entities.js';
import { Retention } from '../../src/modules/operations/retention.js';
import { onOneEngine } from '../support/database.js';
import { deleteAllRows, recordCalls } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Job "prune": logs and deleted posts', (database) => {
  // The tests insert and delete rows directly, without the counters.
  skipCounterCheck(database);
  const settings = { CALL_LOG_DAYS: '62', AUDIT_LOG_DAYS: '100', DELETED_POST_DAYS: '30' };
  const app = useTestApp(database, settings);
  const manager = () => app().dataSource.manager;
  const prune = () => app().service(Retention);
  const ago = (milliseconds: number): Date => addMilliseconds(app().clock.now(), -milliseconds);

  beforeEach(async () => {
    app().clock.set('2026-11-21T09:30:00.000Z');
    await deleteAllRows(app().dataSource);
  });

  const idsOf = async (entity: new () => { id: string }): Promise<string[]> =>
    (await manager().find(entity)).map(({ id }) => id).toSorted();

  it('deletes calls of days that are more than CALL_LOG_DAYS ago, and no others', async () => {
    await recordCalls(app().dataSource, ['2025-01-01T00:00:00Z', '2026-09-19T23:59:59.999Z']);
    await recordCalls(app().dataSource, ['2026-09-20T00:00:00.000Z', '2026-11-21T09:00:00Z']);
    expect(await prune().preview()).toMatchObject({ api_calls: 2 });
    expect(await prune().run()).toMatchObject({ api_calls: 2 });
    const left = await manager().find(ApiCall, { order: { at: 'ASC' } });
    expect(left[0]?.at).toEqual(new Date('2026-09-20T00:00:00.000Z'));
    expect(left).toHaveLength(2);
  });

  it('deletes audit events that are more than AUDIT_LOG_DAYS old', async () => {
    const event = { action: 'app.created', actor: 'olga', subject: 'svc_app_x', details: {} };
    const moments = [ago(100 * DAY + 1), ago(100 * DAY), ago(0)];
    await manager().insert(
      AuditEvent,
      moments.map((at) => ({ ...event, at, id: newId('evt', at) })),
    );
    expect(await prune().preview()).toMatchObject({ audit_events: 1 });
    expect(await prune().run()).toMatchObject({ audit_events: 1 });
    const left = await manager().find(AuditEvent, { order: { at: 'ASC' } });
    expect(left.map(({ at }) => at)).toEqual(moments.slice(1));
  });

  it('deletes each call once in two concurrent runs, although one millisecond has more calls than a batch', async () => {
    const at = ago(70 * DAY);
    await recordCalls(
      app().dataSource,
      Array.from({ length: 1100 }, () => at),
    );
    expect(await prune().preview()).toMatchObject({ api_calls: 1100 });
    const runs = await Promise.all([prune().run(), prune().run()]);
    expect(runs.reduce((sum, { api_calls = 0 }) => sum + api_calls, 0)).toBe(1100);
    expect(await manager().count(ApiCall)).toBe(0);
  });

  it('deletes a deleted post with its comments and likes 30 days and one minute later', async () => {
    const member = await Member.join(app());
    const [expired, recent, alive] = [
      await member.publish(),
      await member.publish(),
      await member.publish(),
    ];
    for (const post of [expired, recent, alive]) {
      const { id } = await member.comment(post.id);
      await member.comment(post.id, 'Me too', id);
      await app().service(PostsService).like(member.user.id, post.id);
    }
    await member.delete(`/posts/${expired.id}`);
    app().clock.advance(1);
    await member.delete(`/posts/${recent.id}`);
    app().clock.advance(30 * DAY + MINUTE - 1);
    const expected = { posts: 1, comments: 2, post_likes: 1 };
    expect(await prune().preview()).toMatchObject(expected);
    expect(await prune().run()).toMatchObject(expected);
    expect(await idsOf(Post)).toEqual([recent.id, alive.id].toSorted());
    for (const entity of [Comment, PostLike]) {
      const left = await manager().find<{ postId: string }>(entity);
      expect(new Set(left.map(({ postId }) => postId))).toEqual(new Set([recent.id, alive.id]));
    }
  });

  it('deletes a deleted comment 30 days and one minute later, but not its post and replies', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    const expired = await member.comment(post.id);
    const reply = await member.comment(post.id, 'Me too', expired.id);
    await member.delete(`/comments/${expired.id}`);
    app().clock.advance(30 * DAY);
    expect(await prune().run()).toMatchObject({ comments: 0, posts: 0 });
    app().clock.advance(MINUTE);
    expect(await prune().preview()).toMatchObject({ comments: 1, posts: 0 });
    expect(await prune().run()).toMatchObject({ comments: 1, posts: 0 });
    expect(await idsOf(Comment)).toEqual([reply.id]);
    expect(await idsOf(Post)).toEqual([post.id]);
    // The access token has expired.
    const rejoined = await Member.join(app(), { user: member.user, client: member.client });
    const comments = await (await rejoined.get(`/posts/${post.id}/comments`)).json();
    expect(comments).toMatchObject({ data: [{ id: reply.id }], meta: { total: 1 } });
  });

  it('counts a deleted comment of a deleted post once', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    await member.delete(`/comments/${(await member.comment(post.id)).id}`);
    await member.comment(post.id);
    await member.delete(`/posts/${post.id}`);
    app().clock.advance(31 * DAY);
    expect(await prune().preview()).toMatchObject({ posts: 1, comments: 2 });
    expect(await prune().run()).toMatchObject({ posts: 1, comments: 2 });
  });

  it('does not delete a post that was restored after it was found as expired', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    await member.delete(`/posts/${post.id}`);
    app().clock.advance(31 * DAY);
    const expired = app().service(Retention).expired(app().clock.now());
    const search = expired.find(({ table }) => table === 'posts')?.batches();
    const remove = (await search?.next())?.value;
    if (!remove) throw new Error('The search found no posts.');
    await manager().update(Post, { id: post.id }, { deletedAt: null });
    expect(await app().service(TransactionRunner).run(remove)).toBe(0);
    expect(await idsOf(Post)).toEqual([post.id]);
  });

  it('deletes more posts than a batch contains, with all of their comments and likes', async () => {
    const old = ago(40 * DAY);
    const posts = Array.from({ length: 1100 }, (_, number) => ({
      id: `post_${number}`,
      userId: 'usr_x',
      type: 'general',
      visibility: 'public' as const,
      images: [],
      tags: [],
      createdAt: old,
      deletedAt: old,
    }));
    const twoKeysPerPost = posts.flatMap(({ id }) => [`a_${id}`, `b_${id}`]);
    const postIdOf = (key: string): string => key.slice(2);
    for (let from = 0; from < posts.length; from += 300)
      await manager().insert(Post, posts.slice(from, from + 300));
    for (let from = 0; from < twoKeysPerPost.length; from += 300) {
      const keys = twoKeysPerPost.slice(from, from + 300);
      const row = (key: string) => ({ postId: postIdOf(key), userId: key, createdAt: old });
      await manager().insert(PostLike, keys.map(row));
      await manager().insert(
        Comment,
        keys.map((key) => ({ ...row(key), id: key, text: 'Hi' })),
      );
    }
    const expected = { posts: 1100, comments: 2200, post_likes: 2200 };
    expect(await prune().preview()).toMatchObject(expected);
    expect(await prune().run()).toMatchObject(expected);
    for (const entity of [Post, Comment, PostLike]) expect(await manager().count(entity)).toBe(0);
  });
});
