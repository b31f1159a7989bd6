import { Post } from '../../src/modules/posts/post.entities.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { expectFailure } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { dumpTables, onEachEngine, tablesContaining } from '../support/database.js';
import { Member, type PostBody } from '../support/member.js';
import { isTokenAccepted, sendRefresh } from '../support/oauth-flow.js';
import { expectTokenError, json } from '../support/responses.js';
import { flushDeferredWrites } from '../support/test-app.js';

interface Reset {
  client_id: string;
  dry_run: boolean;
  tables: Record<string, number>;
}

/** What remains of a test app. */
const REGISTRATION = ['apps', 'app_secrets', 'app_redirect_uris', 'audit_events'];

onEachEngine('Command "app reset"', (database) => {
  const { app, cli } = useCommands(database);
  const dump = (): Promise<Map<string, string>> => dumpTables(app().dataSource);
  const addTestUser = (): Promise<UserWithPhone> => app().addUser({ testCode: '424242' });
  const publishWithKey = (member: Member): Promise<Response> =>
    member.postRaw('/posts', JSON.stringify({ content: 'Plums' }), {
      'content-type': 'application/json',
      'idempotency-key': 'build-1',
    });

  it('deletes posts, comments, grants and usage of the app, and keeps those of other apps with right counters', async () => {
    const client = await app().addClient({ test: true });
    const { clientId } = client;
    const other = await app().addClient({ test: true });
    const user = await addTestUser();
    const ana = await Member.join(app(), { user, client });
    const anaElsewhere = await Member.join(app(), { user, client: other });
    const ben = await Member.join(app(), { user: await addTestUser(), client });
    const real = await Member.join(app());
    const { refreshToken } = await app().issueTokens(user, client);

    const { id: first } = await json<PostBody>(await publishWithKey(ana));
    const { id: second } = await ben.publish();
    const { id: deleted } = await ana.publish();
    await ana.delete(`/posts/${deleted}`);
    const { id: kept } = await anaElsewhere.publish();
    const { id: realPost } = await real.publish();
    await real.comment(realPost);
    await ana.comment(first, 'Mine');
    await anaElsewhere.comment(first, 'From another app');
    await anaElsewhere.comment(kept, 'Stays');
    await ana.comment(kept, 'Goes');
    await ana.delete(`/comments/${(await ana.comment(kept, 'Deleted before')).id}`);
    for (const id of [first, kept]) await app().service(PostsService).like(ben.user.id, id);
    await flushDeferredWrites(app());
    await cli.json('usage', 'rollup');

    const reset = ['app', 'reset', clientId, '--actor', 'olga', '--reason', 'Next build'];
    const preview = await cli.json<Reset>(...reset, '--dry-run');
    expect(preview).toMatchObject({ client_id: clientId, dry_run: true });
    expect(preview.tables).toMatchObject({
      grants: 3,
      access_tokens: 3,
      refresh_tokens: 3,
      idempotency_keys: 1,
      posts: 3,
      comments: 3,
      comments_of_others: 1,
      post_likes: 1,
      quota_usage: 1,
    });
    expect(preview.tables.api_calls).toBeGreaterThan(5);
    expect(preview.tables.api_usage_daily).toBeGreaterThan(2);
    expect(await isTokenAccepted(app(), ana.token)).toBe(true);
    await flushDeferredWrites(app());

    const { tables } = await cli.json<Reset>(...reset, '--yes');
    expect(tables).toMatchObject({ ...preview.tables, api_calls: expect.any(Number) });
    const left = await dump();
    expect(tablesContaining(left, clientId).toSorted()).toEqual(REGISTRATION.toSorted());
    expect(tablesContaining(left, first, second, deleted)).toEqual([]);

    const { manager } = app().dataSource;
    expect(await manager.findOneByOrFail(Post, { id: kept })).toMatchObject({
      commentCount: 1,
      likeCount: 1,
    });
    expect(await manager.findOneByOrFail(Post, { id: realPost })).toMatchObject({
      commentCount: 1,
    });
    expect(await manager.findOneByOrFail(User, { id: user.id })).toMatchObject({ postCount: 1 });
    expect(await manager.findOneByOrFail(User, { id: ben.user.id })).toMatchObject({
      postCount: 0,
    });
    for (const token of [ana.token, ben.token])
      expect(await isTokenAccepted(app(), token)).toBe(false);
    for (const token of [anaElsewhere.token, real.token])
      expect(await isTokenAccepted(app(), token)).toBe(true);
    await expectTokenError(await sendRefresh(app(), client, refreshToken), 'invalid_grant');
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ used: 0 });

    const events = await manager.findBy(AuditEvent, { clientId, reason: 'Next build' });
    expect(events).toMatchObject([{ action: 'app.reset', actor: 'olga', subject: clientId }]);
    expect(events[0]?.details).toMatchObject({ posts: 3, grants: 3 });

    const again = await publishWithKey(await Member.join(app(), { user, client }));
    expect(again.headers.has('idempotency-replayed')).toBe(false);
    expect((await json<PostBody>(again)).id).not.toBe(first);
  });

  it('refuses the app of a partner, and changes nothing', async () => {
    const member = await Member.join(app());
    await member.publish();
    await flushDeferredWrites(app());
    const before = await dump();
    for (const option of ['--yes', '--dry-run'])
      expectFailure(
        await cli.run('app', 'reset', member.client.clientId, option),
        /"Garden Share" is not a test app.*use "app revoke-all svc_app_/,
      );
    expect(await dump()).toEqual(before);
  });

  it('says that there is nothing to delete, and records nothing', async () => {
    const { clientId } = await app().addClient({ test: true });
    const result = await cli.run('app', 'reset', clientId, '--reason', 'Empty');
    expect(result).toMatchObject({ code: 0, stderr: 'No change.\n' });
    expect(await app().dataSource.manager.countBy(AuditEvent, { reason: 'Empty' })).toBe(0);
  });
});
