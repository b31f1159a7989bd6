import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, In, IsNull, LessThanOrEqual, Not } from 'typeorm';
import { type RawTime, storedTime } from '../../platform/database/columns.js';
import { insertMissing, readRows, writeRows } from '../../platform/database/sql.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { findGrants } from '../events/event-outbox.service.js';
import { WebhookEndpoint, WebhookEvent } from '../events/event.entities.js';

/** Endpoints that no process has leased, with a due event. For each, the index finds the first due event. */
const FIND_DUE_ENDPOINTS = `
  SELECT endpoint.client_id AS clientId FROM webhook_endpoints endpoint
  JOIN apps ON apps.client_id = endpoint.client_id AND apps.status = 'enabled'
  WHERE endpoint.disabled_at IS NULL AND (endpoint.leased_until IS NULL OR endpoint.leased_until <= ?)
    AND EXISTS (SELECT 1 FROM webhook_events event
      WHERE event.client_id = endpoint.client_id AND event.due_at <= ?)`;
const FIND_STATES = `
  SELECT endpoint.client_id AS clientId, endpoint.failing_since AS failingSince,
    (SELECT MIN(event.due_at) FROM webhook_events event
      WHERE event.client_id = endpoint.client_id AND event.due_at IS NOT NULL) AS dueAt
  FROM webhook_endpoints endpoint
  JOIN apps ON apps.client_id = endpoint.client_id AND apps.status = 'enabled'
  WHERE endpoint.disabled_at IS NULL`;
const LEASE = `
  UPDATE webhook_endpoints SET leased_until = ?
  WHERE client_id = ? AND disabled_at IS NULL AND (leased_until IS NULL OR leased_until <= ?)
    AND EXISTS (SELECT 1 FROM apps WHERE apps.client_id = webhook_endpoints.client_id AND apps.status = 'enabled')`;
const SETTLE = `
  UPDATE webhook_events SET outcome = ?, due_at = ?, last_result = ?, attempts = ?
  WHERE client_id = ? AND id = ? AND outcome IS NULL`;

export interface EndpointState {
  clientId: string;
  failingSince: Date | null;
  /** It may lie in the future. */
  dueAt: Date | null;
}

type RawState = Record<'failingSince' | 'dueAt', RawTime | null> & { clientId: string };

@Injectable()
export class WebhooksRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(clientId: string, tx?: Transaction): Promise<WebhookEndpoint | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findOneBy(WebhookEndpoint, { clientId });
  }

  findAll(): Promise<WebhookEndpoint[]> {
    return this.dataSource.manager.find(WebhookEndpoint, { order: { clientId: 'ASC' } });
  }

  /** Does nothing if the app has an endpoint. */
  insertMissing(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
    return insertMissing(tx, WebhookEndpoint, [endpoint]);
  }

  /** Returns false if the app has no such endpoint, or it does not match. */
  async update(
    tx: Transaction,
    where: Pick<WebhookEndpoint, 'clientId'> & FindOptionsWhere<WebhookEndpoint>,
    values: Partial<WebhookEndpoint>,
  ): Promise<boolean> {
    return (await entities(tx).update(WebhookEndpoint, where, values)).affected === 1;
  }

  async findDueEndpoints(now: Date): Promise<string[]> {
    const rows = await readRows<{ clientId: string }>(this.dataSource, FIND_DUE_ENDPOINTS, [
      now,
      now,
    ]);
    return rows.map(({ clientId }) => clientId);
  }

  /** Takes the endpoint for this process until `until`. Returns false if another process has it. */
  async lease(tx: Transaction, clientId: string, now: Date, until: Date): Promise<boolean> {
    return (await writeRows(tx, LEASE, [until, clientId, now])) === 1;
  }

  /** The live grants of these members to these apps. */
  async findGrants(
    pairs: readonly { userId: string; clientId: string }[],
    now: Date,
  ): ReturnType<typeof findGrants> {
    return pairs.length === 0 ? [] : findGrants(this.dataSource, pairs, now);
  }

  /** Oldest first. */
  findDue(clientId: string, now: Date, limit: number): Promise<WebhookEvent[]> {
    return this.dataSource.manager.find(WebhookEvent, {
      where: { clientId, dueAt: LessThanOrEqual(now) },
      order: { dueAt: 'ASC', id: 'ASC' },
      take: limit,
    });
  }

  /** Stores the outcome of an event, or its next attempt. */
  async settle(tx: Transaction, event: WebhookEvent): Promise<void> {
    const { clientId, id, outcome, dueAt, lastResult, attempts } = event;
    await writeRows(tx, SETTLE, [outcome, dueAt, lastResult, attempts, clientId, id]);
  }

  /** Newest first. */
  findEvents(
    clientId: string,
    limit: number,
    outcome?: WebhookEvent['outcome'],
  ): Promise<WebhookEvent[]> {
    return this.dataSource.manager.find(WebhookEvent, {
      where: { clientId, ...(outcome !== undefined && { outcome: outcome ?? IsNull() }) },
      order: { id: 'DESC' },
      take: limit,
    });
  }

  /** Makes finished events due again. @returns how many */
  async redeliver(
    tx: Transaction,
    clientId: string,
    now: Date,
    ids: readonly string[] | 'failed',
  ): Promise<number> {
    const where =
      ids === 'failed'
        ? { clientId, outcome: 'failed' as const }
        : { clientId, id: In(ids), outcome: Not(IsNull()) };
    const values = { outcome: null, dueAt: now, attempts: 0 };
    return (await entities(tx).update(WebhookEvent, where, values)).affected ?? 0;
  }

  /** The enabled endpoints of enabled apps: since when each fails, and since when its oldest event has been due. */
  async states(): Promise<EndpointState[]> {
    const rows = await readRows<RawState>(this.dataSource, FIND_STATES, []);
    return rows.map(({ clientId, failingSince, dueAt }) => ({
      clientId,
      failingSince: failingSince === null ? null : storedTime(failingSince),
      dueAt: dueAt === null ? null : storedTime(dueAt),
    }));
  }
}
