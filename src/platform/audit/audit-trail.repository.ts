import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type SelectQueryBuilder } from 'typeorm';
import { DAY, later } from '../clock.js';
import { AppConfig } from '../config/app-config.js';
import {
  type Person,
  PersonalData,
  personalRows,
  type PersonalRows,
} from '../database/retention/data-subject.js';
import {
  clearedRows,
  expiredLogRows,
  type ExpiredRows,
} from '../database/retention/expired-rows.js';
import { AuditEvent } from './audit-event.entity.js';

/** Which events are asked for: all that hold for every member that is given. */
export interface AuditSearch {
  /** From this moment on. */
  since?: Date;
  /** Before this moment. */
  until?: Date;
  clientId?: string;
  userId?: string;
  action?: string;
}

const PAGE = 1000;

/** Reads the audit log. */
@Injectable()
export class AuditTrail {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The events, newest first, at most `most` of them. Read a page at a time by the index of the user, the app or the time, so
   * that any number of them needs little memory and no long statement; what no index leads to is looked at here.
   */
  async *search(wanted: AuditSearch, most = Infinity): AsyncGenerator<AuditEvent> {
    let left = most;
    for (let last: AuditEvent | undefined; ;) {
      const events = await this.page(wanted, last).getMany();
      for (const event of events) {
        if (!isWanted(event, wanted)) continue;
        yield event;
        left -= 1;
        if (left === 0) return;
      }
      if (events.length < PAGE) return;
      last = events.at(-1);
    }
  }

  /** The indices are named, because MySQL and MariaDB would at times rather walk the whole log in its order. */
  private page(
    { since, until, clientId, userId }: AuditSearch,
    last?: AuditEvent,
  ): SelectQueryBuilder<AuditEvent> {
    const query = this.dataSource.manager
      .createQueryBuilder(AuditEvent, 'event')
      .orderBy('event.at', 'DESC')
      .addOrderBy('event.id', 'DESC')
      .limit(PAGE);
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

function isWanted(event: AuditEvent, { clientId, userId, action }: AuditSearch): boolean {
  return (
    (clientId === undefined || event.clientId === clientId) &&
    (userId === undefined || event.userId === userId) &&
    (action === undefined || event.action === action)
  );
}

/** The audit events that are kept no longer. */
@Injectable()
export class ExpiredAuditEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: AppConfig,
  ) {}

  at(now: Date): ExpiredRows {
    const before = later(now, -this.config.retention.auditLog * DAY);
    return expiredLogRows(this.dataSource, AuditEvent, before);
  }
}

/** Events about a person. They stay with the id, as who did what must be provable, and lose the address. */
@Injectable()
export class AuditPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, AuditEvent, [{ userId }])];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    const where = { userId, address: Not(IsNull()) };
    return [clearedRows(this.dataSource, AuditEvent, where, 'userId', { address: null })];
  }
}
