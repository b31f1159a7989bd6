import { EVENT_TYPES } from '../../src/modules/events/event-types.js';
import { WebhookEvent } from '../../src/modules/events/event.entities.js';
import { SHORT_REQUESTS } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { useListeningMember } from '../support/events.js';
import { auditTrail } from '../support/logs.js';
import { approve } from '../support/oauth-flow.js';

/** The types about members, without the one that an erasure causes. */
const ABOUT_MEMBERS = Object.keys(EVENT_TYPES).filter(
  (type) => !['grant.revoked', 'quota.threshold', 'webhook.test'].includes(type),
);
const TEXT = 'A text that must not be sent';

interface Row {
  type: string;
  subject_id: string | null;
}

onOneEngine('Events about a member', (database) => {
  const { app, cli } = useCommands(database, SHORT_REQUESTS);
  const { member, delivered } = useListeningMember(app);
  const rowsOf = (userId: string): Promise<WebhookEvent[]> =>
    app().dataSource.manager.findBy(WebhookEvent, { userId });

  /** Causes an event of each type about the member, of which none is delivered yet. */
  async function causeEvents(): Promise<void> {
    const { user, client } = member();
    const { id: postId } = await member().publish();
    const { id: commentId } = await member().comment(postId, TEXT);
    await member().delete(`/comments/${commentId}`);
    await member().comment(postId, TEXT);
    const { id: removed } = await member().publish();
    await cli.json('post', 'remove', removed, '--yes', '--reason', 'Spam');
    // The next message to a phone is sent after a minute.
    app().clock.advance(61_000);
    await approve(app(), user, client, {
      scope: client.scopes.join(' '),
      scopes: ['profile.read', 'posts.read'],
    });
  }

  it('that wait are exported and erased, except the one that says that the access has ended', async () => {
    const { user } = member();
    await causeEvents();
    const waiting = (await rowsOf(user.id)).map(({ type }) => type);
    expect([...new Set(waiting)].toSorted()).toEqual(ABOUT_MEMBERS.toSorted());

    const exported = await cli.json<{ webhook_events: Row[] }>('user', 'export', user.id);
    expect(exported.webhook_events.map(({ type }) => type).toSorted()).toEqual(waiting.toSorted());

    const { tables } = await cli.json<{ tables: Record<string, number> }>(
      ...['user', 'erase', user.id, '--yes'],
    );
    expect(tables.webhook_events).toBe(waiting.length);
    expect((await rowsOf(user.id)).map(({ type }) => type)).toEqual(['grant.revoked']);
    const trail = await auditTrail(app().dataSource, user.id);
    expect(trail.find(({ action }) => action === 'user.erased')?.details).toEqual(tables);

    const events = await delivered();
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'grant.revoked', data: { userId: user.id, scopes: [] } },
    ]);
    expect((await rowsOf(user.id)).map(({ outcome }) => outcome)).toEqual(['delivered']);
  });
});
