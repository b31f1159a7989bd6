import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Counter } from 'prom-client';
import type { Caller } from '../../../platform/access/caller.js';
import { addMilliseconds, Clock } from '../../../platform/clock.js';
import { BackgroundWriter } from '../../../platform/database/background-writer.js';
import { type ListPaging, type Part, partOf } from '../../../platform/database/list-page.js';
import { isDuplicateKey } from '../../../platform/database/errors.js';
import type { TimeRange } from '../../../platform/database/rows-in-pages.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import {
  CLIENT_CLOSED_REQUEST,
  responseStatus,
  routeOf,
} from '../../../platform/http/http-request-context.js';
import { newId } from '../../../platform/ids.js';
import { Metrics, modeOf } from '../../../platform/observability/metrics.js';
import type { ApiCall } from '../quota.entities.js';
import { type CallSearch, QuotaRepository } from '../quota.repository.js';

const MAX_QUEUED = 10_000;
const BATCH_SIZE = 500;

type Call = Omit<ApiCall, 'id' | 'metered'>;

/**
 * Records developer API calls. A successful publish is recorded in the transaction that stores the post. Other calls are queued
 * in memory and written in batches, so that reads do not wait for a write.
 */
@Injectable()
export class CallLog extends BackgroundWriter {
  private readonly logger = new Logger(CallLog.name);
  private queue: ApiCall[] = [];
  private dropped = 0;
  private readonly callsTotal: Counter<'client_id' | 'mode'>;
  private readonly droppedTotal: Counter;
  /**
   * Size of the batch that failed; 0 after a success. The retry has the same calls, so a duplicate key means that all of them
   * are stored.
   */
  private failedBatchSize = 0;

  constructor(
    private readonly repository: QuotaRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    super();
    metrics.registerGauge(
      'call_log_waiting',
      'API calls in the queue of the call log.',
      () => this.queue.length,
    );
    this.callsTotal = metrics.counter(
      'api_calls_total',
      'API calls with a valid access token, by app.',
      'client_id',
      'mode',
    );
    this.droppedTotal = metrics.counter(
      'call_log_dropped_total',
      'API calls that were not recorded because the queue was full.',
    );
  }

  /** Middleware that records authenticated calls when the response closes. */
  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    response.once('close', () => {
      const { caller } = request.context;
      if (!caller) return;
      const { clientId } = caller;
      this.callsTotal.inc({ client_id: clientId, mode: modeOf(clientId) });
      const route = `${request.method} ${routeOf(request)}`;
      const status = responseStatus(response);
      const durationMs = this.clock.now().getTime() - caller.receivedAt.getTime();
      const { errorCode } = request.context;
      const isComplete = status !== CLIENT_CLOSED_REQUEST;
      this.record(caller, {
        route,
        status,
        durationMs,
        errorCode: (isComplete && errorCode) || null,
      });
    });
    next();
  };

  /** The recorded calls of a request, oldest first. A call is recorded within seconds after its response. */
  findOfRequest(requestId: string, range: TimeRange): Promise<ApiCall[]> {
    return this.repository.findOfRequest(requestId, range);
  }

  /** The ids of the requests with which the app published for the user at this time. */
  async publishesAt(at: Date, clientId: string, userId: string): Promise<string[]> {
    const range = { from: at, to: addMilliseconds(at, 1) };
    const calls = await this.repository.findCalls({ range, clientId, userId }, { limit: 100 });
    return calls.filter(({ metered }) => metered).map(({ requestId }) => requestId);
  }

  /** The recorded calls that match, newest first. Call it with a range of at most a day, an app or a user: others take long. */
  async find(search: CallSearch, paging: ListPaging): Promise<Part<ApiCall>> {
    return partOf(await this.repository.findCalls(search, paging), paging);
  }

  /** Queues a call, unless the transaction of a publish records it. */
  record(caller: Caller, call: Omit<Call, 'at' | 'clientId' | 'userId' | 'requestId'>): void {
    const { clientId, userId, requestId, receivedAt: at, publish } = caller;
    const enqueue = () => this.enqueue({ at, clientId, userId, requestId, ...call });
    if (publish) publish.then(({ replayed }) => replayed && enqueue(), enqueue);
    else enqueue();
  }

  /** Drops the call if the queue is full, as during a long database outage. */
  private enqueue(call: Call): void {
    if (this.queue.length < MAX_QUEUED)
      this.queue.push({ id: newId('call', call.at), ...call, metered: false });
    else {
      this.dropped += 1;
      this.droppedTotal.inc();
    }
  }

  protected override async writeWaiting(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, this.failedBatchSize || BATCH_SIZE);
      try {
        await this.transactions.run((tx) => this.repository.insertCalls(tx, batch));
      } catch (error) {
        // Duplicate key: the first attempt was committed, but its confirmation was lost.
        if (!isDuplicateKey(error)) {
          this.failedBatchSize = batch.length;
          this.logger.error(
            `Cannot write the call log. ${this.queue.length} calls are queued.`,
            (error as Error).stack,
          );
          return;
        }
      }
      this.failedBatchSize = 0;
      this.queue = this.queue.slice(batch.length);
    }
    if (this.dropped > 0) {
      this.logger.warn(`${this.dropped} calls were not recorded because the queue was full.`);
      this.dropped = 0;
    }
  }
}
