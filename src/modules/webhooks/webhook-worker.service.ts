import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { addMilliseconds, Clock, DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.js';
import { AuditLog } from '../../platform/audit/audit-log.repository.js';
import { type Transaction, TransactionRunner } from '../../platform/database/transaction.js';
import { parseRetryAfter } from '../../platform/http/http-client.js';
import { modeOf } from '../../platform/observability/metrics.js';
import { EventOutbox, mayReceive } from '../events/event-outbox.service.js';
import type { WebhookEndpoint, WebhookEvent } from '../events/event.entities.js';
import { type Attempt, WebhookSender } from './webhook-sender.js';
import { WebhookBodies } from './webhook-body.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhooksRepository } from './webhooks.repository.js';

/** The waits between the attempts, before jitter. After the last, the event has failed. */
const RETRY_AFTER_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  DAY,
];
/** At most this part is added to a wait, so that the events of an endpoint do not all return at once. */
const JITTER = 0.1;
/** An endpoint is disabled when every delivery has failed for this time. */
const MAX_FAILING_MS = 5 * DAY;
const CONCURRENT_PER_ENDPOINT = 4;
const BATCH_SIZE = 32;
/** No delivery of a batch begins later, because what members and operators change counts from the next batch on. */
const BATCH_MS = SECOND;
/** As many batches are in progress at once, however many are due: connections to the database and time are left to API requests. */
const LANES = 2;
/** An endpoint that takes longer leaves its lane to others, and keeps its connections. */
const PATIENCE_MS = 50;
const LEASE_MS = MINUTE;

/** Why the service disables an endpoint. */
const DISABLED = {
  status_410: 'The endpoint returned 410.',
  failures: 'All deliveries have failed for five days.',
} as const;

type DisabledBy = keyof typeof DISABLED;

interface Batch {
  endpoint: WebhookEndpoint;
  lease: Date;
  due: readonly WebhookEvent[];
  /** Those that the app may still receive. */
  allowed: readonly WebhookEvent[];
  bodies: ReadonlyMap<string, string>;
}

interface Delivery {
  event: WebhookEvent;
  attempt: Attempt;
}

/**
 * Delivers events at least once, in no certain order. Each process runs it; a lease of the endpoint gives all its deliveries to one of
 * them. A lease of a killed process ends after a minute, and its unrecorded deliveries are repeated.
 */
@Injectable()
export class WebhookWorker implements OnApplicationShutdown {
  private readonly logger = new Logger(WebhookWorker.name);
  private readonly running = new Map<string, Promise<void>>();
  private readonly lanes = Array.from({ length: LANES }, () => Promise.resolve<unknown>(null));
  private turn = 0;

  constructor(
    private readonly repository: WebhooksRepository,
    private readonly sender: WebhookSender,
    private readonly bodies: WebhookBodies,
    private readonly outbox: EventOutbox,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly metrics: WebhookMetrics,
  ) {}

  /** Starts the delivery for each endpoint with due events. Never rejects. */
  @Interval('webhooks', SECOND)
  async deliverDue(): Promise<void> {
    try {
      for (const clientId of await this.repository.findDueEndpoints(this.clock.now()))
        if (!this.running.has(clientId)) this.running.set(clientId, this.drain(clientId));
    } catch (error) {
      this.logger.warn('Cannot read the events that are due. The next second tries again.', error);
    }
  }

  /** Stores the results so far, and frees the endpoints for other processes. */
  onApplicationShutdown(): Promise<void> {
    this.sender.stop();
    return this.idle();
  }

  /** Waits for the deliveries that have begun. */
  async idle(): Promise<void> {
    await Promise.all(this.running.values());
  }

  /** Delivers what is due to one endpoint. Never rejects. */
  private async drain(clientId: string): Promise<void> {
    try {
      while (!this.sender.isStopped && (await this.deliverBatch(clientId)) === BATCH_SIZE);
    } catch (error) {
      this.logger.warn(`The delivery of events to ${clientId} was interrupted.`, error);
    } finally {
      this.running.delete(clientId);
    }
  }

  /** @returns the number of events that were due */
  private async deliverBatch(clientId: string): Promise<number> {
    const begun = await this.inTurn(() => this.begin(clientId));
    if (!begun) return 0;
    const { batch } = begun;
    const { due, allowed } = batch;
    const deliveries = await begun.deliveries;
    for (const delivery of deliveries) settle(delivery, this.clock.now());
    const withdrawn = due.filter((event) => !allowed.includes(event));
    for (const event of withdrawn) Object.assign(event, { outcome: 'withdrawn', dueAt: null });
    const settled = [...withdrawn, ...deliveries.map(({ event }) => event)];
    const disabledBy = await this.inTurn(() =>
      this.transactions.run((tx) => this.record(tx, batch, deliveries, settled)),
    );
    const mode = modeOf(clientId);
    for (const { attempt } of deliveries)
      this.metrics.deliveriesTotal.inc({
        result: isSuccess(attempt) ? 'delivered' : 'failed',
        mode,
      });
    if (disabledBy) {
      this.metrics.disabledTotal.inc({ reason: disabledBy, mode });
      this.outbox.forgetListeners();
      this.logger.warn(`The endpoint of ${clientId} was disabled. ${DISABLED[disabledBy]}`);
    }
    return due.length;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.turn = (this.turn + 1) % LANES;
    const result = Promise.resolve(this.lanes[this.turn]).then(work);
    this.lanes[this.turn] = result.catch(() => undefined);
    return result;
  }

  /** Undefined if another process delivers to the endpoint, or nobody may. Resolves when the deliveries are made or take long. */
  private async begin(
    clientId: string,
  ): Promise<{ batch: Batch; deliveries: Promise<Delivery[]> } | undefined> {
    const batch = this.sender.isStopped ? undefined : await this.claim(clientId);
    if (!batch) return undefined;
    const deliveries = this.deliver(batch);
    await Promise.race([deliveries, sleep(PATIENCE_MS, undefined, { ref: false })]);
    return { batch, deliveries };
  }

  private async claim(clientId: string): Promise<Batch | undefined> {
    const now = this.clock.now();
    const lease = addMilliseconds(now, LEASE_MS);
    const isLeased = await this.transactions.run((tx) =>
      this.repository.lease(tx, clientId, now, lease),
    );
    const endpoint = isLeased ? await this.repository.find(clientId) : null;
    if (!endpoint) return undefined;
    const due = await this.repository.findDue(clientId, now, BATCH_SIZE);
    const allowed = await this.allowed(due);
    return { endpoint, lease, due, allowed, bodies: await this.bodies.of(allowed) };
  }

  /** The events that the app may still receive. */
  private async allowed(events: readonly WebhookEvent[]): Promise<WebhookEvent[]> {
    const pairs = events.flatMap(({ clientId, userId }) =>
      userId === null ? [] : [{ clientId, userId }],
    );
    const grants = await this.repository.findGrants(pairs, this.clock.now());
    return events.filter(({ type, userId }) =>
      mayReceive(
        type,
        grants.filter((grant) => grant.userId === userId),
      ),
    );
  }

  /** Makes one attempt for each event, a few at once, until the batch has taken too long. */
  private async deliver({ endpoint, allowed, bodies }: Batch): Promise<Delivery[]> {
    const endsAt = performance.now() + BATCH_MS;
    const waiting = [...allowed];
    const deliveries: Delivery[] = [];
    let { failsNext } = endpoint;
    const next = async (): Promise<void> => {
      for (let event = waiting.shift(); event; event = waiting.shift()) {
        if (this.sender.isStopped || performance.now() > endsAt) return;
        const isFault = failsNext;
        failsNext = false;
        const attempt: Attempt = isFault
          ? { error: 'webhook_failure' }
          : await this.sender.send(endpoint, event.id, bodies.get(event.id) ?? '');
        // The event remains due.
        if ('error' in attempt && this.sender.isStopped) return;
        deliveries.push({ event, attempt });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_PER_ENDPOINT }, next));
    return deliveries;
  }

  /** Records the results, and frees the endpoint for the next batch. @returns why the endpoint was disabled, if it was */
  private async record(
    tx: Transaction,
    { endpoint, lease }: Batch,
    deliveries: readonly Delivery[],
    settled: readonly WebhookEvent[],
  ): Promise<DisabledBy | undefined> {
    const { clientId, failsNext } = endpoint;
    const now = this.clock.now();
    const failed = deliveries.filter(({ attempt }) => !isSuccess(attempt));
    const failingSince =
      failed.length < deliveries.length
        ? null
        : (endpoint.failingSince ?? (failed.length > 0 ? now : null));
    // First, because transactions lock the endpoint before its events.
    const isOwn = await this.repository.update(
      tx,
      { clientId, leasedUntil: lease },
      {
        leasedUntil: null,
        failingSince,
        ...(failsNext && deliveries.length > 0 && { failsNext: false }),
      },
    );
    // Otherwise the lease has ended, or an operator has set or switched the endpoint in the meantime.
    const disabledBy = isOwn
      ? await this.disableIfUseless(tx, endpoint, failed, failingSince, now)
      : undefined;
    for (const event of settled) await this.repository.settle(tx, event);
    return disabledBy;
  }

  /** After 410, or if nothing has been delivered for days. */
  private async disableIfUseless(
    tx: Transaction,
    { clientId }: WebhookEndpoint,
    failed: readonly Delivery[],
    failingSince: Date | null,
    now: Date,
  ): Promise<DisabledBy | undefined> {
    const isGone = failed.some(({ attempt }) => 'status' in attempt && attempt.status === 410);
    const isFailing =
      failingSince !== null && failingSince <= addMilliseconds(now, -MAX_FAILING_MS);
    if (!isGone && !isFailing) return undefined;
    const disabledBy = isGone ? 'status_410' : 'failures';
    await this.repository.update(tx, { clientId }, { disabledAt: now, disabledBy });
    const reason = DISABLED[disabledBy];
    await this.audit.record(tx, 'webhook.disabled', clientId, { actor: 'service', reason });
    return disabledBy;
  }
}

function isSuccess(attempt: Attempt): boolean {
  return 'status' in attempt && attempt.status >= 200 && attempt.status < 300;
}

/** Sets the outcome of an event, or its next attempt. */
function settle({ event, attempt }: Delivery, now: Date): void {
  event.dueAt = isSuccess(attempt) ? null : nextAttempt(event, attempt, now);
  event.outcome = isSuccess(attempt) ? 'delivered' : event.dueAt ? null : 'failed';
  event.attempts += 1;
  event.lastResult = 'status' in attempt ? String(attempt.status) : attempt.error;
}

/** Null after the last attempt. An endpoint that is overloaded can ask for a longer wait, of at most a day. */
function nextAttempt({ attempts }: WebhookEvent, attempt: Attempt, now: Date): Date | null {
  const wait = RETRY_AFTER_MS[attempts];
  if (wait === undefined) return null;
  const isAsked = 'status' in attempt && [429, 503].includes(attempt.status);
  const asked = isAsked ? Math.min(parseRetryAfter(attempt.retryAfter, now), DAY) : 0;
  return addMilliseconds(now, Math.max(asked, Math.round(wait * (1 + Math.random() * JITTER))));
}
