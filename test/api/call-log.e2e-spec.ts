import { Post } from '../../src/modules/posts/post.entity.js';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { CallLog } from '../../src/modules/quota/call-log.service.js';
import { QuotaUsage } from '../../src/modules/quota/quota-usage.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('The call log', (database) => {
  const app = useTestApp(database);

  /** The app's rows once there are so many: a call is recorded when its answer has left, not before. */
  async function rowsOf({ client }: Member, count: number): Promise<ApiCall[]> {
    const { clientId } = client;
    const rows = async () => {
      await app().service(CallLog).flush();
      return app().dataSource.manager.find(ApiCall, { where: { clientId }, order: { id: 'ASC' } });
    };
    await expect.poll(async () => (await rows()).length).toBe(count);
    return rows();
  }

  it('records a publish before its answer, with the post and the quota', async () => {
    const member = await Member.join(app());
    const answer = await member.post('/posts', { content: 'Hi' });
    const { clientId } = member.client;
    const rows = await app().dataSource.manager.findBy(ApiCall, { clientId });
    expect(rows).toMatchObject([
      {
        id: expect.stringMatching(/^call_/),
        at: app().clock.now(),
        userId: member.user.id,
        route: 'POST /dev/v1/posts',
        status: 201,
        durationMs: 0,
        requestId: answer.headers.get('x-request-id'),
      },
    ]);
  });

  it('records a publish once', async () => {
    const member = await Member.join(app());
    await member.publish();
    await member.get('/me');
    const rows = await rowsOf(member, 2);
    expect(rows.map(({ route }) => route).toSorted()).toEqual([
      'GET /dev/v1/me',
      'POST /dev/v1/posts',
    ]);
  });

  it('records every other call with route pattern, status and request id', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    const comment = await member.comment(post.id);
    const made: [string, number, string | null][] = [
      ['POST /dev/v1/posts', 201, null],
      ['POST /dev/v1/posts/:id/comments', 201, null],
    ];
    const calls = [
      ['GET', '/me', '/me', 200],
      ['HEAD', '/me', '/me', 200],
      ['GET', '/posts?page=1', '/posts', 200],
      ['GET', '/posts?page=0', '/posts', 400],
      ['GET', `/posts/${post.id}`, '/posts/:id', 200],
      ['GET', '/posts/x', '/posts/:id', 404],
      ['GET', `/posts/${post.id}/analytics`, '/posts/:id/analytics', 200],
      ['GET', `/posts/${post.id}/comments`, '/posts/:id/comments', 200],
      ['DELETE', `/comments/${comment.id}`, '/comments/:id', 200],
      ['DELETE', `/comments/${comment.id}`, '/comments/:id', 404],
      ['POST', '/posts', '/posts', 415],
      ['DELETE', `/posts/${post.id}`, '/posts/:id', 200],
    ] as const;
    for (const [method, path, pattern, status] of calls) {
      const answer = await app().call(member.token, method, path);
      expect(answer.status).toBe(status);
      made.push([`${method} /dev/v1${pattern}`, status, answer.headers.get('x-request-id')]);
    }
    const rows = await rowsOf(member, made.length);
    const recorded = rows.map(({ route, status, requestId }) => [route, status, requestId]);
    for (const [route, status, requestId] of made)
      expect(recorded).toContainEqual([route, status, requestId ?? expect.any(String)]);
  });

  it('records calls that lack the scope or the quota, since their app is known', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await member.get('/me');
    expect(await rowsOf(member, 1)).toMatchObject([{ route: 'GET /dev/v1/me', status: 403 }]);
  });

  it('records no call of an unknown caller, and none beside the API', async () => {
    const before = await app().dataSource.manager.count(ApiCall);
    await app().fetch('/dev/v1/me');
    await app().fetch('/dev/v1/me', { headers: { authorization: 'Bearer x' } });
    const member = await Member.join(app());
    await member.get('/nope');
    await app().fetch('/livez');
    await member.get('/me');
    await rowsOf(member, 1);
    expect(await app().dataSource.manager.count(ApiCall)).toBe(before + 1);
  });

  it('counts how long a call took', async () => {
    const member = await Member.join(app());
    await member.get('/me');
    expect(await rowsOf(member, 1)).toMatchObject([{ durationMs: 0, at: app().clock.now() }]);
  });

  it('is complete after many calls at once', async () => {
    const member = await Member.join(app());
    await Promise.all(Array.from({ length: 60 }, () => member.get('/me')));
    const rows = await rowsOf(member, 60);
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(60);
  });

  it('commits with the post: a publish that fails at its record leaves nothing behind', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    const { manager } = app().dataSource;
    await member.publish();
    await app().dataSource.query('ALTER TABLE api_calls RENAME TO api_calls_away');
    const answer = await member
      .post('/posts', { content: 'Hi' })
      .finally(() => app().dataSource.query('ALTER TABLE api_calls_away RENAME TO api_calls'));
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toMatch(/api_calls/);
    expect({
      posts: await manager.countBy(Post, { clientId }),
      counted: (await manager.findOneByOrFail(User, { id: member.user.id })).postCount,
      used: (await manager.findOneByOrFail(QuotaUsage, { clientId })).used,
      published: await manager.countBy(ApiCall, { clientId, status: 201 }),
    }).toEqual({ posts: 1, counted: 1, used: 1, published: 1 });
  });

  it('commits with the post: a publish that fails at its quota leaves nothing behind', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    const { manager } = app().dataSource;
    await app().dataSource.query('ALTER TABLE quota_usage RENAME TO quota_usage_away');
    const answer = await member
      .post('/posts', { content: 'Hi' })
      .finally(() => app().dataSource.query('ALTER TABLE quota_usage_away RENAME TO quota_usage'));
    expect(answer.status).toBe(500);
    expect({
      posts: await manager.countBy(Post, { clientId }),
      counted: (await manager.findOneByOrFail(User, { id: member.user.id })).postCount,
      published: await manager.countBy(ApiCall, { clientId, status: 201 }),
    }).toEqual({ posts: 0, counted: 0, published: 0 });
  });

  it('waits while it cannot be written, and loses nothing', async () => {
    const member = await Member.join(app());
    await app().dataSource.query('ALTER TABLE api_calls RENAME TO api_calls_away');
    await member.get('/me');
    await app().service(CallLog).flush();
    await member.get('/posts');
    await app().service(CallLog).flush();
    await app().dataSource.query('ALTER TABLE api_calls_away RENAME TO api_calls');
    const rows = await rowsOf(member, 2);
    expect(rows.map(({ route }) => route).toSorted()).toEqual([
      'GET /dev/v1/me',
      'GET /dev/v1/posts',
    ]);
  });
});
