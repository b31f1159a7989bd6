import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../clock.js';
import { isId, newId, type IdPrefix } from '../ids.js';
import { currentRequest } from '../request-context.js';
import { insertAll, insertOnAnySchema } from '../database/sql.js';
import type { Transaction } from '../database/transaction.js';
import type { AuditAction } from './audit-actions.js';
import { AuditEvent } from './audit-event.entity.js';

/** Author and reason of a change. */
export interface Change {
  /** The id of a user or app, the name of an operator, or a name such as `service`. */
  actor: string;
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

  /** Creates an event of the current request, job or command, without storing it. */
  event(
    action: AuditAction,
    subject: string,
    { actor, reason }: Change,
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
      details,
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

  insertAll(tx: Transaction, events: readonly NewAuditEvent[]): Promise<void> {
    const at = this.clock.now();
    return insertAll(
      tx,
      AuditEvent,
      events.map((event) => withId(event, at)),
    );
  }

  /** For a database schema that may be older than this version. */
  insertOnAnySchema(tx: Transaction, event: NewAuditEvent): Promise<void> {
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
