import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { inTimeRange, type TimeRange } from '../database/time-range.js';
import type { AuditAction } from './audit-actions.js';
import { AuditEvent } from './audit-event.entity.js';

/** An event must match all given members. */
export interface AuditSearch {
  /** Inclusive. */
  since?: Date;
  /** Exclusive. */
  until?: Date;
  clientId?: string;
  userId?: string;
  action?: AuditAction;
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

  /** The events of a request, oldest first. The request id has no index, so only the given time range is searched. */
  findOfRequest(requestId: string, range: TimeRange): Promise<AuditEvent[]> {
    const query = this.dataSource.manager.createQueryBuilder(AuditEvent, 'event');
    return inTimeRange(query, range)
      .andWhere({ requestId })
      .orderBy('event.at')
      .addOrderBy('event.id')
      .getMany();
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

function matches(event: AuditEvent, { clientId, userId, action }: AuditSearch): boolean {
  return (
    (clientId === undefined || event.clientId === clientId) &&
    (userId === undefined || event.userId === userId) &&
    (action === undefined || event.action === action)
  );
}
