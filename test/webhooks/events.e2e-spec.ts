import { AppReset } from '../../src/modules/operations/app-reset.js';
import { WebhookEvent } from '../../src/modules/events/event.entities.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { PostModeration } from '../../src/modules/posts/post-moderation.service.js';
import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { onEachEngine } from '../support/database.js';
import type { ReceivedEvent } from '../support/event-receiver.js';
import { useListeningMember } from '../support/events.js';
import { Member } from '../support/member.js';
import { approve, sendForm } from '../support/oauth-flow.js';
import { useTestApp } from '../support/test-app.js';

const CHANGE = { actor: 'operator' };
const ALL = 'profile.read posts.read posts.write analytics.read';

const typesOf = (events: readonly ReceivedEvent[]): string[] =>
  events.map(({ type }) => type).toSorted();

onEachEngine('Events', (database) => {
  const app = useTestApp(database);
  const { member, receiver, listen, delivered } = useListeningMember(app);
  const userId = (): string => member().user.id;

  it('tell an app of a new comment, as the API shows it', async () => {
    const { id: postId } = await member().publish();
    const comment = await member().comment(postId);
    const [event, ...others] = await delivered();
    expect(others).toEqual([]);
    expect(event).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'comment.created',
      timestamp: comment.createdAt,
      data: { userId: userId(), postId, comment },
    });
    expect(receiver().deliveries[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': event?.id,
    });
    expect(await delivered()).toHaveLength(1);
  });

  it('tell every app that may read the posts, once, also of the comments of a batch', async () => {
    const other = await Member.join(app(), { user: member().user });
    // A second grant to the same app.
    await Member.join(app(), { user: member().user, client: other.client });
    await listen(other.client.clientId);
    const posts = await Promise.all(Array.from({ length: 5 }, () => member().publish()));
    await Promise.all(posts.map(({ id }) => member().comment(id)));
    await delivered().catch(() => undefined);
    expect(receiver().deliveries).toHaveLength(10);
    const rows = await app().dataSource.manager.findBy(WebhookEvent, { userId: userId() });
    expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['delivered']));
  });

  it('tell an app of a deleted comment, and do not show what was deleted before the delivery', async () => {
    const { id: postId } = await member().publish();
    const { id } = await member().comment(postId);
    const byOperator = await member().comment(postId);
    await member().delete(`/comments/${id}`);
    await app().service(CommentsService).remove(byOperator.id, CHANGE);
    const events = await delivered();
    const { created, deleted } = { created: 'comment.created', deleted: 'comment.deleted' };
    expect(typesOf(events)).toEqual([created, created, deleted, deleted]);
    for (const { data } of events)
      expect([
        { userId: userId(), postId, comment: { id } },
        { userId: userId(), postId, comment: { id: byOperator.id } },
      ]).toContainEqual(data);
  });

  it('do not show a comment on a post that was deleted before the delivery', async () => {
    const { id: postId } = await member().publish();
    const { id } = await member().comment(postId);
    await member().delete(`/posts/${postId}`);
    expect((await delivered()).map(({ data }) => data)).toEqual([
      { userId: userId(), postId, comment: { id } },
    ]);
  });

  it('tell an app that its post was deleted by another app or an operator, but not by itself', async () => {
    const own = await member().publish();
    const byOther = await member().publish();
    const byOperator = await member().publish();
    const other = await Member.join(app(), { user: member().user });
    await member().delete(`/posts/${own.id}`);
    await other.delete(`/posts/${byOther.id}`);
    await app().service(PostModeration).remove(byOperator.id, CHANGE, 'Spam');
    const events = await delivered();
    expect(typesOf(events)).toEqual(['post.deleted', 'post.deleted']);
    const data = events.map((event) => event.data);
    expect(data).toContainEqual({ userId: userId(), post: { id: byOther.id } });
    expect(data).toContainEqual({ userId: userId(), post: { id: byOperator.id }, reason: 'Spam' });
  });

  it('are not for apps that may not read posts, whose access has ended, or that are disabled', async () => {
    const writer = await Member.join(app(), { user: member().user, scopes: ['posts.write'] });
    const revoked = await Member.join(app(), { user: member().user });
    for (const { client } of [writer, revoked]) await listen(client.clientId);
    await app().service(GrantsService).revokeForUser(userId(), [revoked.client.clientId], CHANGE);
    await delivered().catch(() => undefined);
    receiver().clear();
    const { id: postId } = await member().publish();
    await member().comment(postId);
    expect(typesOf(await delivered())).toEqual(['comment.created']);
  });

  it('that wait when the access ends are withdrawn, and the app learns that it has ended', async () => {
    const { id: postId } = await member().publish();
    await member().comment(postId);
    await app().service(GrantsService).revokeForUser(userId(), 'all', CHANGE);
    const events = await delivered();
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'grant.revoked', data: { userId: userId(), scopes: [] } },
    ]);
    const rows = await app().dataSource.manager.findBy(WebhookEvent, { userId: userId() });
    expect(rows.map(({ outcome }) => outcome).toSorted()).toEqual(['delivered', 'withdrawn']);
  });

  it('tell an app which scopes remain when the member allows fewer of them', async () => {
    const { client, user } = member();
    app().clock.advance(61_000);
    await approve(app(), user, client, { scope: ALL, scopes: ['profile.read', 'posts.write'] });
    const events = await delivered();
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'grant.narrowed',
        data: { userId: user.id, scopes: ['profile.read', 'posts.write'] },
      },
    ]);
  });

  it('do not tell an app that it revoked its own access', async () => {
    const { client, user } = member();
    const { refreshToken } = await app().issueTokens(user, client);
    await sendForm(app(), '/oauth/revoke', client, { token: refreshToken });
    expect(await delivered()).toEqual([]);
  });

  it('tell an app once a month that it has used 75, 90 and 100 percent of its quota', async () => {
    const { clientId } = member().client;
    const quota = app().service(QuotaService);
    await quota.set(clientId, { limit: 5 }, CHANGE);
    const percents = async (): Promise<unknown[]> =>
      (await delivered()).map(({ data }) => data.percent).toSorted();
    for (const expected of [[], [], [], [75], [100, 75, 90]]) {
      await member().publish();
      expect(await percents()).toEqual(expected.toSorted());
    }
    const [event] = receiver().deliveries;
    const month = app().clock.now().toISOString().slice(0, 7);
    expect(JSON.parse(event?.body ?? '')).toMatchObject({
      type: 'quota.threshold',
      data: { month, percent: 75, limit: 5, used: 4 },
    });
    await quota.set(clientId, { limit: 6 }, CHANGE);
    await member().publish();
    expect(receiver().deliveries).toHaveLength(3);
    app().clock.advance(31 * 86_400_000);
    await quota.set(clientId, { limit: 1 }, CHANGE);
    await (await Member.join(app(), { client: member().client })).publish();
    expect(await percents()).toHaveLength(6);
  });
});

onEachEngine('Events of a test app', (database) => {
  const app = useTestApp(database);
  const { member, delivered, receiver } = useListeningMember(app, { test: true });

  it('fail once if the app asks for it, and arrive later', async () => {
    const { id: postId } = await member().publish();
    const body = JSON.stringify({ text: 'Hi' });
    const response = await member().postRaw(`/posts/${postId}/comments`, body, {
      'content-type': 'application/json',
      'test-fault': 'webhook_failure',
    });
    expect(response.status).toBe(201);
    expect(await delivered()).toEqual([]);
    const [row] = await app().dataSource.manager.findBy(WebhookEvent, { userId: member().user.id });
    expect(row).toMatchObject({ attempts: 1, lastResult: 'webhook_failure', outcome: null });
    app().clock.advance(6000);
    expect(typesOf(await delivered())).toEqual(['comment.created']);
    await member().comment(postId);
    await delivered();
    expect(receiver().deliveries).toHaveLength(2);
  });

  it('are deleted by "app reset"', async () => {
    const { id: postId } = await member().publish();
    await member().comment(postId);
    const { clientId } = member().client;
    const counts = await app().service(AppReset).preview(clientId);
    expect(counts).toMatchObject({ webhook_events: 1 });
    await app().service(AppReset).reset(clientId, counts, { change: CHANGE });
    expect(await delivered()).toEqual([]);
  });
});
