import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/clock.js';
import { isId, newId, type IdPrefix } from '../common/ids.js';
import { currentRequest } from '../common/current-request.js';
import { insertAll } from '../database/insert.js';
import type { Transaction } from '../database/transaction.js';
import { AuditEvent } from './audit-event.entity.js';

/** Who changes something, and why. */
export interface Change {
  actor: string;
  reason?: string;
}

/**
 * Writes down who changed what, in the transaction that changes it, with the request that asked for it.
 * Details never hold a secret, token, code or phone.
 */
@Injectable()
export class AuditLog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Whether this was done to this user, as far back as events are kept. */
  knows(action: string, userId: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(AuditEvent, { action, userId });
  }

  async record(
    tx: Transaction,
    action: string,
    subject: string,
    { actor, reason }: Change,
    details: Record<string, unknown> = {},
  ): Promise<void> {
    await this.recordAll(tx, action, [{ subject, details }], { actor, reason });
  }

  /** The same change of several subjects, written by one statement. */
  async recordAll(
    tx: Transaction,
    action: string,
    changed: readonly { subject: string; details: Record<string, unknown> }[],
    { actor, reason }: Change,
  ): Promise<void> {
    if (changed.length === 0) return;
    const at = this.clock.now();
    const events = changed.map(({ subject, details }) => ({
      at,
      id: newId('evt', at),
      action,
      actor,
      subject,
      clientId: idAmong('svc_app', [details.clientId, subject, actor]),
      userId: idAmong('usr', [details.userId, subject, actor]),
      reason: reason ?? null,
      requestId: currentRequest()?.requestId ?? null,
      address: currentRequest()?.address ?? null,
      details: details as never,
    }));
    await insertAll(tx, AuditEvent, events);
  }
}

/** The first of `values` that is an id with this prefix. */
function idAmong(prefix: IdPrefix, values: readonly unknown[]): string | null {
  return values.find((value): value is string => isId(prefix, value)) ?? null;
}
