import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThanOrEqual, type SelectQueryBuilder } from 'typeorm';
import { Clock } from '../clock.js';
import { isId, newId, type IdPrefix } from '../ids.js';
import { currentRequest } from '../request-context.js';
import { insertAll, insertOnAnySchema } from '../database/sql.js';
import { entities, type Transaction } from '../database/transaction.js';
import type { AuditAction } from './audit-actions.js';
import { AuditEvent } from './audit-event.entity.js';
import { rowsOfRequest, type TimeRange } from '../database/rows-in-pages.js';

/** Author and reason of a change. */
export interface Change {
  /** The id of a user or app, the name of an operator, or a name such as `service`. */
  actor: string;
  /** The user of the operating system, if the operator has named another actor. Stored in the details. */
  osUser?: string;
  reason?: string;
}

export type NewAuditEvent = Omit<AuditEvent, 'at' | 'id'>;

/** Writes audit events in the transaction of the change. Details must not contain secrets, tokens, codes or phone numbers. */
@Injectable()
export class AuditLog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Whether an event with this action and user is stored. */
  hasEvent(action: AuditAction, userId: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(AuditEvent, { action, userId });
  }

  /** The address of the request of an event since `since`; undefined if no event matches. */
  async addressOf(
    event: Pick<AuditEvent, 'action' | 'subject'> & { userId: string },
    since: Date,
  ): Promise<string | null | undefined> {
    const at = MoreThanOrEqual(since);
    return (await this.dataSource.manager.findOneBy(AuditEvent, { ...event, at }))?.address;
  }

  /** Creates an event of the current request, job or command, without storing it. */
  event(
    action: AuditAction,
    subject: string,
    { actor, osUser, reason }: Change,
    details: Record<string, unknown> = {},
  ): NewAuditEvent {
    return {
      action,
      actor,
      subject,
      clientId: firstId('svc_app', [details.clientId, subject, actor]),
      userId: firstId('usr', [details.userId, subject, actor]),
      reason: reason ?? null,
      requestId: currentRequest()?.requestId ?? null,
      address: currentRequest()?.address ?? null,
      details: osUser === undefined ? details : { ...details, osUser },
    };
  }

  record(
    tx: Transaction,
    action: AuditAction,
    subject: string,
    change: Change,
    details?: Record<string, unknown>,
  ): Promise<void> {
    return this.insertAll(tx, [this.event(action, subject, change, details)]);
  }

  /**
   * Records what happened to a phone number, if it belongs to a user. Otherwise runs the same statements and stores nothing, so that
   * response times do not reveal whether a phone number has an account.
   */
  async recordOrDecoy(
    tx: Transaction,
    action: AuditAction,
    userId: string | null,
    details: Record<string, unknown>,
  ): Promise<void> {
    const event = this.event(action, userId ?? '', { actor: 'service' }, details);
    const row = withId(event, this.clock.now());
    await insertAll(tx, AuditEvent, [row]);
    await entities(tx).delete(AuditEvent, { at: row.at, id: row.id, userId: IsNull() });
  }

  insertAll(tx: Transaction, events: readonly NewAuditEvent[]): Promise<void> {
    const at = this.clock.now();
    return insertAll(
      tx,
      AuditEvent,
      events.map((event) => withId(event, at)),
    );
  }

  /** For a database schema that may be older than this version. */
  recordOnAnySchema(tx: Transaction, event: NewAuditEvent): Promise<void> {
    return insertOnAnySchema(tx, AuditEvent, withId(event, this.clock.now()));
  }
}

function withId(event: NewAuditEvent, at: Date): AuditEvent {
  return { ...event, at, id: newId('evt', at) };
}

/** The first of `values` that is an id with this prefix. */
function firstId(prefix: IdPrefix, values: readonly unknown[]): string | null {
  return values.find((value): value is string => isId(prefix, value)) ?? null;
}

/** An event must match all given members. */
export interface AuditSearch {
  /** Inclusive. */
  since?: Date;
  /** Exclusive. */
  until?: Date;
  clientId?: string;
  userId?: string;
  action?: AuditAction;
  actor?: string;
  /** Actions that an event must not have. */
  notActions?: readonly AuditAction[];
}

const PAGE_SIZE = 1000;

@Injectable()
export class AuditEventReader {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The matching events, newest first. Reads pages by the index of the user, the app or the time, to bound memory and statement
   * time. Filters the other conditions in memory.
   */
  async *search(criteria: AuditSearch, limit = Infinity): AsyncGenerator<AuditEvent> {
    let remaining = limit;
    for (let last: AuditEvent | undefined; ;) {
      const events = await this.pageQuery(criteria, last).getMany();
      for (const event of events) {
        if (!matches(event, criteria)) continue;
        yield event;
        remaining -= 1;
        if (remaining === 0) return;
      }
      if (events.length < PAGE_SIZE) return;
      last = events.at(-1);
    }
  }

  findOfRequest(requestId: string, range: TimeRange): Promise<AuditEvent[]> {
    return rowsOfRequest(this.dataSource, AuditEvent, requestId, range);
  }

  /**
   * The query for the first page, or for the page after the event `last`. Names the index, because MySQL and MariaDB would sometimes
   * scan the whole log.
   */
  private pageQuery(
    { since, until, clientId, userId }: AuditSearch,
    last?: AuditEvent,
  ): SelectQueryBuilder<AuditEvent> {
    const query = this.dataSource.manager
      .createQueryBuilder(AuditEvent, 'event')
      .orderBy('event.at', 'DESC')
      .addOrderBy('event.id', 'DESC')
      .limit(PAGE_SIZE);
    if (userId !== undefined)
      query.useIndex('ix_audit_events_user_id').andWhere('event.userId = :userId', { userId });
    else if (clientId !== undefined)
      query
        .useIndex('ix_audit_events_client_id')
        .andWhere('event.clientId = :clientId', { clientId });
    if (since) query.andWhere('event.at >= :since', { since });
    if (until) query.andWhere('event.at < :until', { until });
    if (last)
      query.andWhere('event.at <= :at AND (event.at < :at OR event.id < :id)', {
        at: last.at,
        id: last.id,
      });
    return query;
  }
}

function matches(
  event: AuditEvent,
  { clientId, userId, action, notActions = [], actor }: AuditSearch,
): boolean {
  return (
    (clientId === undefined || event.clientId === clientId) &&
    (userId === undefined || event.userId === userId) &&
    (action === undefined || event.action === action) &&
    (actor === undefined || event.actor === actor) &&
    !notActions.some((name) => name === event.action)
  );
}
