import { Injectable } from '@nestjs/common';
import {
  parseScope,
  type Scope,
  type ScopesOfCredential,
  scopesThatCount,
} from '../../platform/access/scopes.js';
import { Clock, SECOND } from '../../platform/clock.js';
import { insertAll, placeholdersFor, readRows, writeRows } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { newId } from '../../platform/ids.js';
import { EVENT_TYPES, type EventType, postsAt, QUOTA_THRESHOLDS } from './event-types.js';
import { WebhookEvent } from './event.entities.js';

/** For how long a process may overlook a new endpoint. */
const MAX_AGE_MS = 5 * SECOND;

const FIND_LISTENERS = `
  SELECT endpoint.client_id AS clientId FROM webhook_endpoints endpoint
  JOIN apps ON apps.client_id = endpoint.client_id AND apps.status = 'enabled'
  WHERE endpoint.disabled_at IS NULL`;
const LIVE_GRANTS = 'grants.revoked_at IS NULL AND grants.expires_at > ?';
/** The live grants of the authors of posts to apps. */
const GRANTS_OF_AUTHORS = `
  SELECT posts.id AS postId, posts.user_id AS userId, posts.client_id AS publisherId, grants.client_id AS clientId,
    grants.scope, grants.withdrawn_scope AS withdrawnScope, apps.scope AS appScope
  FROM posts
  JOIN grants ON grants.user_id = posts.user_id AND ${LIVE_GRANTS}
  JOIN apps ON apps.client_id = grants.client_id AND apps.status = 'enabled'`;
/** As for tokens: test apps get events of test members only, and real apps of real ones. */
const GRANTS_OF_MEMBERS = `
  SELECT grants.user_id AS userId, grants.client_id AS clientId,
    grants.scope, grants.withdrawn_scope AS withdrawnScope, apps.scope AS appScope
  FROM grants
  JOIN apps ON apps.client_id = grants.client_id
  JOIN users ON users.id = grants.user_id AND users.status = 'active'
    AND (users.test_code_hash IS NOT NULL) = (apps.test <> 0)
  WHERE ${LIVE_GRANTS}`;
const USED_POSTS =
  'SELECT used, notified_percent AS notifiedPercent FROM quota_usage WHERE client_id = ? AND period = ?';
const SET_NOTIFIED =
  'UPDATE quota_usage SET notified_percent = ? WHERE client_id = ? AND period = ?';

interface GrantOfMember extends ScopesOfCredential {
  userId: string;
  clientId: string;
}

interface GrantOfAuthor extends GrantOfMember {
  postId: string;
  publisherId: string | null;
}

type NewEvent = Pick<WebhookEvent, 'clientId' | 'type' | 'userId' | 'subjectId' | 'details'>;

/**
 * Writes the events of a change in its transaction: no change without its events, no event without its change. The events wait in
 * `webhook_events` until they are delivered. Without an endpoint that could receive an event, the calls cost nothing.
 */
@Injectable()
export class EventOutbox {
  private listeners?: { clientIds: ReadonlySet<string>; until: number };

  constructor(private readonly clock: Clock) {}

  /** Makes this process notice a new or changed endpoint at once; others take up to five seconds. */
  forgetListeners(): void {
    delete this.listeners;
  }

  /** Whether an app has an enabled endpoint. */
  async listens(tx: Transaction, clientId: string): Promise<boolean> {
    return (await this.listening(tx)).has(clientId);
  }

  /** To the apps that may read the posts of their author. */
  async commentsChanged(
    tx: Transaction,
    type: 'comment.created' | 'comment.deleted',
    comments: readonly { id: string; postId: string }[],
  ): Promise<void> {
    if ((await this.listening(tx)).size === 0) return;
    const grants = await this.grantsOfAuthors(
      tx,
      comments.map(({ postId }) => postId),
    );
    const events = comments.flatMap(({ id, postId }) => {
      const able = grants.filter((grant) => grant.postId === postId && mayReceive(type, [grant]));
      return distinct(able, ({ clientId }) => clientId).map(({ clientId, userId }): NewEvent => ({
        clientId,
        type,
        userId,
        subjectId: id,
        details: { postId },
      }));
    });
    await this.add(tx, events);
  }

  /**
   * To the app that published a post, unless it deleted the post itself.
   * @param by the app that deleted the posts; none if an operator did
   * @param reason of the operator, for the app
   */
  async postsDeleted(
    tx: Transaction,
    posts: readonly { id: string; by?: string }[],
    reason?: string,
  ): Promise<void> {
    if ((await this.listening(tx)).size === 0) return;
    const deletedBy = new Map(posts.map(({ id, by }) => [id, by]));
    const grants = await this.grantsOfAuthors(tx, [...deletedBy.keys()]);
    const able = grants.filter(
      ({ postId, clientId, publisherId }) =>
        clientId === publisherId && clientId !== deletedBy.get(postId),
    );
    const events = distinct(able, ({ postId }) => postId).map(
      ({ postId, clientId, userId }): NewEvent => ({
        clientId,
        type: 'post.deleted',
        userId,
        subjectId: postId,
        details: reason === undefined ? {} : { reason },
      }),
    );
    await this.add(tx, events);
  }

  /** To each app about each member who no longer allows all that these grants allowed, with the scopes that remain. Call it after the change. */
  async accessReduced(
    tx: Transaction,
    changed: readonly { userId: string; clientId: string }[],
  ): Promise<void> {
    const listening = await this.listening(tx);
    const affected = distinct(
      changed.filter(({ clientId }) => listening.has(clientId)),
      ({ userId, clientId }) => `${userId} ${clientId}`,
    );
    if (affected.length === 0) return;
    const grants = await findGrants(tx, affected, this.clock.now());
    const events = affected.map(({ userId, clientId }): NewEvent => {
      const scopes = scopesOf(grants, userId, clientId);
      const type = scopes.length === 0 ? 'grant.revoked' : 'grant.narrowed';
      return { clientId, type, userId, subjectId: null, details: { scopes } };
    });
    await this.add(tx, events);
  }

  /**
   * To an app that listens, when it has used 75, 90 or 100 % of its monthly quota, once each. Call it while the transaction locks the
   * counter.
   * @param limit posts per month
   */
  async quotaUsed(tx: Transaction, clientId: string, period: string, limit: number): Promise<void> {
    const [row] = await readRows<{ used: number; notifiedPercent: number | null }>(tx, USED_POSTS, [
      clientId,
      period,
    ]);
    const { used = 0, notifiedPercent } = row ?? {};
    const reached = QUOTA_THRESHOLDS.filter(
      (percent) => percent > (notifiedPercent ?? 0) && used >= postsAt(limit, percent),
    );
    const last = reached.at(-1);
    if (last === undefined) return;
    await writeRows(tx, SET_NOTIFIED, [last, clientId, period]);
    const events = reached.map((percent): NewEvent => ({
      clientId,
      type: 'quota.threshold',
      userId: null,
      subjectId: null,
      details: { month: period, percent, limit, used },
    }));
    await this.add(tx, events);
  }

  /** @returns the ids of the events */
  async add(tx: Transaction, events: readonly NewEvent[]): Promise<string[]> {
    const now = this.clock.now();
    const rows = events.map((event): WebhookEvent => ({
      ...event,
      id: newId('msg', now),
      createdAt: now,
      dueAt: now,
      attempts: 0,
      lastResult: null,
      outcome: null,
    }));
    await insertAll(tx, WebhookEvent, rows);
    return rows.map(({ id }) => id);
  }

  private grantsOfAuthors(tx: Transaction, postIds: readonly string[]): Promise<GrantOfAuthor[]> {
    return readRows<GrantOfAuthor>(
      tx,
      `${GRANTS_OF_AUTHORS} WHERE posts.id IN ${placeholdersFor(postIds)}
       AND EXISTS (SELECT 1 FROM webhook_endpoints endpoint
         WHERE endpoint.client_id = grants.client_id AND endpoint.disabled_at IS NULL)`,
      [this.clock.now(), ...postIds],
    );
  }

  /** The enabled apps with an enabled endpoint. */
  private async listening(tx: Transaction): Promise<ReadonlySet<string>> {
    if (this.listeners && performance.now() < this.listeners.until) return this.listeners.clientIds;
    const rows = await readRows<{ clientId: string }>(tx, FIND_LISTENERS, []);
    const clientIds = new Set(rows.map(({ clientId }) => clientId));
    this.listeners = { clientIds, until: performance.now() + MAX_AGE_MS };
    return clientIds;
  }
}

/** The live grants of these members to these apps. */
export function findGrants(
  source: Parameters<typeof readRows>[0],
  pairs: readonly { userId: string; clientId: string }[],
  now: Date,
): Promise<GrantOfMember[]> {
  const userIds = [...new Set(pairs.map(({ userId }) => userId))];
  const clientIds = [...new Set(pairs.map(({ clientId }) => clientId))];
  return readRows<GrantOfMember>(
    source,
    `${GRANTS_OF_MEMBERS} AND grants.user_id IN ${placeholdersFor(userIds)} AND grants.client_id IN ${placeholdersFor(clientIds)}`,
    [now, ...userIds, ...clientIds],
  );
}

/** Whether an app with these grants of a member may receive an event about this member. */
export function mayReceive(type: EventType, grants: readonly ScopesOfCredential[]): boolean {
  const needed: Scope | 'any' | null = EVENT_TYPES[type].scope;
  if (needed === null) return true;
  return grants.some((grant) => {
    const scopes = scopesThatCount(grant);
    return needed === 'any' ? scopes.length > 0 : scopes.includes(needed);
  });
}

function scopesOf(grants: readonly GrantOfMember[], userId: string, clientId: string): Scope[] {
  const own = grants.filter((grant) => grant.userId === userId && grant.clientId === clientId);
  return parseScope(own.flatMap(scopesThatCount).join(' '));
}

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
