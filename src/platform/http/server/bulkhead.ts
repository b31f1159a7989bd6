import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { ServiceUnavailable } from '../../errors.js';
import { restartDeadline } from '../../request-context.js';
import { isAlwaysServed } from './always-served.decorator.js';

/*
 * A bulkhead with a bounded queue (load shedding).
 *
 * Node accepts every request. With a thousand at once, each turn of the event loop does a little for all of them, so every
 * response takes as long as all responses together. The bulkhead admits a fixed number of requests; others wait in order, up to
 * a deadline, and get 503 with `Retry-After` beyond it. Delete it when a proxy in front limits concurrent requests per process.
 */

declare module '../../request-context.js' {
  interface RequestContext {
    /** Set once the request is in the bulkhead. */
    permit?: Permit;
  }
}

/** More requests would only wait for a connection; fewer would share fewer statements. */
const PERMITS_PER_CONNECTION = 5;
/** Memory of all request bodies that are arriving, in bytes. */
const MAX_ARRIVING_BYTES = 67_108_864;
const MAX_RETRY_AFTER_SECONDS = 3;

/** A queued request, called when it gets its permit. */
type Waiter = () => void;

@Injectable()
export class Bulkhead {
  private readonly permits: number;
  private readonly queueLimit: number;
  private readonly timeoutMs: number;
  private running = 0;
  private arrivingBytes = 0;
  /** First in, first out. Requests whose body has arrived were admitted before, so they come first. */
  private readonly resuming = new Set<Waiter>();
  private readonly queue = new Set<Waiter>();

  constructor({ database }: AppConfig) {
    this.permits = database.poolSize * PERMITS_PER_CONNECTION;
    this.queueLimit = database.queueLimit;
    this.timeoutMs = database.queueTimeoutMs;
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.resuming.size + this.queue.size;
  }

  /** @throws ServiceUnavailable, at once if the queue is full, else after the deadline */
  admit(request: Request, response: Response): true | Promise<true> {
    const permit = new Permit(this);
    request.context.permit = permit;
    response.once('close', () => permit.disconnect(response.headersSent));
    return permit.acquire(this.queue);
  }

  /** @throws ServiceUnavailable */
  resume(permit: Permit): true | Promise<true> {
    return permit.acquire(this.resuming);
  }

  /** True if a permit was free. Permits of ended requests go to the queue first, so none is free while requests wait. */
  tryAcquire(): boolean {
    if (this.running >= this.permits) return false;
    this.running += 1;
    return true;
  }

  /**
   * Waits for a permit.
   * @param onCancel receives the function that gives up
   * @throws ServiceUnavailable
   */
  enqueue(queue: Set<Waiter>, onCancel: (cancel: () => void) => void): Promise<true> {
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
      onCancel(cancel);
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

  /** @throws ServiceUnavailable */
  reserve(bytes: number): void {
    if (this.arrivingBytes + bytes > MAX_ARRIVING_BYTES) throw overloadError();
    this.arrivingBytes += bytes;
  }

  unreserve(bytes: number): void {
    this.arrivingBytes -= bytes;
  }
}

/** The permit of one request. It is released while the body arrives, and for good when the response is sent. */
export class Permit {
  private isHeld = false;
  private isArriving = false;
  private hasEnded = false;
  private reservedBytes = 0;
  /** Leaves the queue. */
  private cancel?: () => void;

  constructor(private readonly bulkhead: Bulkhead) {}

  /** @throws ServiceUnavailable */
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
   * Releases the permit while the body arrives.
   * @param bytes memory that the body may take; 0 for small bodies
   * @throws ServiceUnavailable if all arriving bodies would take too much memory
   */
  suspend(bytes: number): void {
    this.bulkhead.reserve(bytes);
    this.reservedBytes = bytes;
    this.isArriving = true;
    this.releaseHeld();
  }

  /** Acquires it again once the body has arrived. @throws ServiceUnavailable */
  async resume(): Promise<void> {
    this.isArriving = false;
    this.releaseBytes();
    if (!this.hasEnded) await this.bulkhead.resume(this);
  }

  /** The response is sent. */
  end(): void {
    this.hasEnded = true;
    this.releaseBytes();
    this.releaseHeld();
  }

  /** The connection is closed: a queued request leaves the queue. Work that has begun goes on, and keeps its permit. */
  disconnect(isResponding: boolean): void {
    this.cancel?.();
    if (isResponding || this.isArriving) this.end();
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

/** Random, so that clients that were refused together do not return together. */
export function overloadError(): ServiceUnavailable {
  return new ServiceUnavailable(1 + Math.floor(Math.random() * MAX_RETRY_AFTER_SECONDS));
}

/** Sheds load before anything else is done for a request. Each endpoint returns the error in its own format. */
@Injectable()
export class BulkheadGuard implements CanActivate {
  constructor(private readonly bulkhead: Bulkhead) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (isAlwaysServed(context)) return true;
    const http = context.switchToHttp();
    return this.bulkhead.admit(http.getRequest<Request>(), http.getResponse<Response>());
  }
}
