import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Counter } from 'prom-client';
import type { Caller } from '../../../platform/access/caller.js';
import { Clock } from '../../../platform/clock.js';
import { BackgroundWriter } from '../../../platform/database/background-writer.js';
import { isDuplicateKey } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import type { Outcome } from '../../../platform/http/idempotency/idempotency.service.js';
import { answeredStatus, routeOf } from '../../../platform/http/request-context.js';
import { newId } from '../../../platform/ids.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { ApiCall } from '../quota.entities.js';
import { CallsRepository } from './calls.repository.js';

/** The one route that costs quota (source document, section 8), as the call log names it. */
const PUBLISH_ROUTE = 'POST /dev/v1/posts';
const CREATED = 201;

const MOST_WAITING = 10_000;
const BATCH = 500;

export type Call = Omit<ApiCall, 'id' | 'metered'>;

/**
 * Records developer API calls. A publish is recorded in its own transaction; the others wait in memory and are written
 * in batches, so that no read waits for a write.
 */
@Injectable()
export class CallLog extends BackgroundWriter {
  private readonly logger = new Logger(CallLog.name);
  private readonly publishes = new WeakMap<Caller, Promise<Outcome<unknown>>>();
  private waiting: ApiCall[] = [];
  private dropped = 0;
  private readonly droppedTotal: Counter;
  /** Calls of a batch that failed: written again as the same batch, so that a duplicate key means all of it is there. */
  private tried = 0;

  constructor(
    private readonly repository: CallsRepository,
    private readonly transactions: TransactionRunner,
    metrics: Metrics,
  ) {
    super();
    metrics.watch('call_log_waiting', 'Calls that wait to be recorded.', () => this.waiting.length);
    this.droppedTotal = new Counter({
      name: 'call_log_dropped_total',
      help: 'Calls that were not recorded, because too many waited.',
      registers: [metrics.registry],
    });
  }

  /** Records successful publishes, at least one, in the transaction that publishes. */
  async recordPublishes(
    tx: Transaction,
    calls: readonly Omit<Call, 'route' | 'status'>[],
  ): Promise<void> {
    const publish = { route: PUBLISH_ROUTE, status: CREATED };
    const records = calls.map((call) => recordOf({ ...call, ...publish }, true));
    await this.repository.insertAll(tx, records);
  }

  /**
   * Lets a publish stand for the record of its call, unless it fails or turns out to be a replay; whoever made the call may have
   * left by then.
   */
  async standFor<T>(caller: Caller, publish: Promise<Outcome<T>>): Promise<Outcome<T>> {
    this.publishes.set(caller, publish);
    return publish;
  }

  /** Records a caller's call soon, once it is known that no publish recorded it. */
  record(caller: Caller, call: Omit<Call, 'at' | 'clientId' | 'userId' | 'requestId'>): void {
    const { clientId, userId, requestId, receivedAt: at } = caller;
    const keep = () => this.keep({ at, clientId, userId, requestId, ...call });
    const publish = this.publishes.get(caller);
    if (publish) publish.then(({ replayed }) => replayed && keep(), keep);
    else keep();
  }

  /** When the database is away for long, the newest calls are dropped and counted. */
  private keep(call: Call): void {
    if (this.waiting.length < MOST_WAITING) this.waiting.push(recordOf(call, false));
    else {
      this.dropped += 1;
      this.droppedTotal.inc();
    }
  }

  protected override async writeWaiting(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, this.tried || BATCH);
      try {
        await this.write(batch);
        this.tried = 0;
      } catch (error) {
        this.tried = batch.length;
        this.logger.error(
          `The call log could not be written; ${this.waiting.length} calls wait.`,
          (error as Error).stack,
        );
        return;
      }
      this.waiting = this.waiting.slice(batch.length);
    }
    if (this.dropped > 0) {
      this.logger.warn(`${this.dropped} calls were not recorded, because too many waited.`);
      this.dropped = 0;
    }
  }

  /** A commit whose answer was lost has written the batch: its rows are duplicates the next time. */
  private async write(batch: ApiCall[]): Promise<void> {
    try {
      await this.transactions.run((tx) => this.repository.insertAll(tx, batch));
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

function recordOf(call: Call, metered: boolean): ApiCall {
  return { id: newId('call', call.at), ...call, metered };
}

/** Records every developer API call of a known app when its answer has left, except the publishes, which record themselves. */
@Injectable()
export class CallLogMiddleware {
  constructor(
    private readonly calls: CallLog,
    private readonly clock: Clock,
  ) {}

  readonly record = (request: Request, response: Response, next: NextFunction): void => {
    response.once('close', () => {
      const { caller } = request.context;
      if (!caller) return;
      const route = `${request.method} ${routeOf(request)}`;
      const status = answeredStatus(response);
      const durationMs = this.clock.now().getTime() - caller.receivedAt.getTime();
      this.calls.record(caller, { route, status, durationMs });
    });
    next();
  };
}
