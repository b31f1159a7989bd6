import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { ServiceUnavailable } from '../../errors.js';
import { restartDeadline } from '../../request-context.js';
import { isAlwaysServed } from './always-served.decorator.js';

/*
 * A bulkhead with a bounded queue (load shedding).
 *
 * Node accepts every request. With a thousand concurrent requests, each response takes as long as all responses together. The
 * bulkhead admits a fixed number of requests, each of which holds a permit. Others wait in FIFO queues, and get 503 with `Retry-After`
 * when their queue is full or they time out. Delete the bulkhead if a proxy limits the concurrent requests per process.
 */

declare module '../../request-context.js' {
  interface RequestContext {
    /** Set once the request enters the bulkhead. */
    permit?: Permit;
  }
}

/** With more permits, requests would only wait for a connection; with fewer, batches of lookups (batch-loader.ts) would be smaller. */
const PERMITS_PER_CONNECTION = 5;
/** Maximum memory of all request bodies that are being received, except small ones, which are not counted. */
const MAX_RECEIVING_BYTES = 67_108_864;
const MAX_RETRY_AFTER_SECONDS = 3;

/** The callback of a queued request, called when the request gets its permit. */
type Waiter = () => void;

@Injectable()
export class Bulkhead {
  private readonly permits: number;
  private readonly queueLimit: number;
  private readonly timeoutMs: number;
  private running = 0;
  private receivingBytes = 0;
  /** Requests that were admitted before and whose body has arrived. They come before new requests. */
  private readonly resuming = new Set<Waiter>();
  /** New requests. */
  private readonly queue = new Set<Waiter>();

  constructor({ database }: AppConfig) {
    this.permits = database.poolSize * PERMITS_PER_CONNECTION;
    this.queueLimit = database.queueLimit;
    this.timeoutMs = database.queueTimeoutMs;
  }

  /** Requests in both queues. */
  get waiting(): number {
    return this.resuming.size + this.queue.size;
  }

  /** Acquires the permit of a new request. @throws ServiceUnavailable at once if the queue is full, or after the timeout */
  admit(request: Request, response: Response): true | Promise<true> {
    const permit = new Permit(this);
    request.context.permit = permit;
    response.once('close', () => permit.disconnect(response.headersSent));
    return permit.acquire(this.queue);
  }

  /** Acquires the permit of an admitted request again, before new requests. @throws ServiceUnavailable */
  resume(permit: Permit): true | Promise<true> {
    return permit.acquire(this.resuming);
  }

  /** Does not overtake the queues: `release` passes permits to queued requests first, so none is free while requests wait. */
  tryAcquire(): boolean {
    if (this.running >= this.permits) return false;
    this.running += 1;
    return true;
  }

  /**
   * Waits for a permit.
   * @param receiveCancel receives a function that makes the request leave the queue
   * @throws ServiceUnavailable if the queue is full, after the timeout, or when the client disconnects
   */
  enqueue(queue: Set<Waiter>, receiveCancel: (cancel: () => void) => void): Promise<true> {
    if (queue.size >= this.queueLimit) throw overloadError();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        queue.delete(waiter);
      };
      const cancel = (): void => {
        leave();
        reject(overloadError());
      };
      const waiter = (): void => {
        leave();
        this.running += 1;
        resolve(true);
      };
      const timer = setTimeout(cancel, this.timeoutMs);
      queue.add(waiter);
      receiveCancel(cancel);
    });
  }

  release(): void {
    this.running -= 1;
    for (const queue of [this.resuming, this.queue])
      for (const waiter of queue) {
        if (this.running >= this.permits) return;
        waiter();
      }
  }

  /** Reserves memory for a request body. @throws ServiceUnavailable if too much is reserved */
  reserve(bytes: number): void {
    if (this.receivingBytes + bytes > MAX_RECEIVING_BYTES) throw overloadError();
    this.receivingBytes += bytes;
  }

  unreserve(bytes: number): void {
    this.receivingBytes -= bytes;
  }
}

/** The permit of one request. Released while the body is received, and when the response is written. */
export class Permit {
  private isHeld = false;
  private isReceiving = false;
  private hasEnded = false;
  private reservedBytes = 0;
  /** Makes the request leave the queue. */
  private cancel?: () => void;

  constructor(private readonly bulkhead: Bulkhead) {}

  /** Takes a free permit, or waits in the queue for one. @throws ServiceUnavailable */
  acquire(queue: Set<Waiter>): true | Promise<true> {
    if (this.bulkhead.tryAcquire()) {
      this.isHeld = true;
      restartDeadline();
      return true;
    }
    return this.bulkhead
      .enqueue(queue, (cancel) => (this.cancel = cancel))
      .then(() => {
        this.cancel = undefined;
        this.isHeld = true;
        restartDeadline();
        return true;
      });
  }

  /**
   * Releases the permit while the body is received.
   * @param bytes memory to reserve for the body; 0 for small bodies, which are not counted
   * @throws ServiceUnavailable if the bodies that are being received could take too much memory
   */
  suspend(bytes: number): void {
    this.bulkhead.reserve(bytes);
    this.reservedBytes = bytes;
    this.isReceiving = true;
    this.releaseHeld();
  }

  /** Acquires the permit again, once the body is received. @throws ServiceUnavailable */
  async resume(): Promise<void> {
    this.isReceiving = false;
    this.releaseBytes();
    if (!this.hasEnded) await this.bulkhead.resume(this);
  }

  /** Call when the response is written, even if the client has not read it. */
  end(): void {
    this.hasEnded = true;
    this.releaseBytes();
    this.releaseHeld();
  }

  /**
   * Call when the response closes. A queued request leaves the queue. A request ends if its body is being received or its response
   * has begun; otherwise it continues and keeps its permit until it has a response.
   */
  disconnect(isResponding: boolean): void {
    this.cancel?.();
    if (isResponding || this.isReceiving) this.end();
  }

  private releaseBytes(): void {
    this.bulkhead.unreserve(this.reservedBytes);
    this.reservedBytes = 0;
  }

  private releaseHeld(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.bulkhead.release();
  }
}

/** Jitter of `Retry-After` spreads the retries. */
export function overloadError(): ServiceUnavailable {
  return new ServiceUnavailable(1 + Math.floor(Math.random() * MAX_RETRY_AFTER_SECONDS));
}

/** Sheds load before authentication. Each endpoint returns the error in its own format. */
@Injectable()
export class BulkheadGuard implements CanActivate {
  constructor(private readonly bulkhead: Bulkhead) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (isAlwaysServed(context)) return true;
    const http = context.switchToHttp();
    return this.bulkhead.admit(http.getRequest<Request>(), http.getResponse<Response>());
  }
}
