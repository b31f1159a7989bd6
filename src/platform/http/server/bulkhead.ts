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
 *
 * One app holds at most half of the permits once it is authenticated, so that it does not delay other apps. Its other requests wait in
 * a queue of the app. They would not need to wait while no other app calls, but then slow requests of one app could hold all permits when
 * another one calls. These requests come last: two busy apps, or the API calls and the token requests of one, hold all permits together,
 * and would pass them to each other.
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

/** Undefined before authentication. */
type App = string | undefined;

/** Requests that wait for a permit, in order. Apps take turns. */
class WaitingRequests {
  private readonly byApp = new Map<App, Set<Waiter>>();

  get size(): number {
    return [...this.byApp.values()].reduce((sum, { size }) => sum + size, 0);
  }

  countOf(app: App): number {
    return this.byApp.get(app)?.size ?? 0;
  }

  add(app: App, waiter: Waiter): void {
    const waiters = this.byApp.get(app) ?? new Set();
    this.byApp.set(app, waiters.add(waiter));
  }

  delete(app: App, waiter: Waiter): void {
    const waiters = this.byApp.get(app);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.byApp.delete(app);
  }

  /** The next request of an app that may run. The app is the last one to get the next turn. */
  next(mayRun: (app: App) => boolean): Waiter | undefined {
    for (const [app, waiters] of this.byApp) {
      if (!mayRun(app)) continue;
      this.byApp.delete(app);
      this.byApp.set(app, waiters);
      const [waiter] = waiters;
      return waiter;
    }
    return undefined;
  }
}

@Injectable()
export class Bulkhead {
  private readonly permits: number;
  private readonly permitsPerApp: number;
  private readonly queueLimit: number;
  private readonly timeoutMs: number;
  private running = 0;
  /** Permits of authenticated requests. */
  private readonly runningByApp = new Map<string, number>();
  private receivingBytes = 0;
  /** Requests whose body has arrived. They were admitted before, so they come before new requests. */
  private readonly resuming = new WaitingRequests();
  /** New requests. */
  private readonly queue = new WaitingRequests();
  /** Authenticated requests of apps that hold half of the permits. */
  private readonly surplus = new WaitingRequests();

  constructor({ database }: AppConfig) {
    this.permits = database.poolSize * PERMITS_PER_CONNECTION;
    this.permitsPerApp = Math.floor(this.permits / 2);
    this.queueLimit = database.queueLimit;
    this.timeoutMs = database.queueTimeoutMs;
  }

  /** Requests in all queues. */
  get waiting(): number {
    return this.resuming.size + this.queue.size + this.surplus.size;
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

  /** Acquires a permit for a request that `tryAssign` rejected, after new requests. @throws ServiceUnavailable */
  waitForTurn(permit: Permit): true | Promise<true> {
    return permit.acquire(this.surplus);
  }

  /** Does not overtake the queues: `release` passes permits to queued requests first, so none is free for a request that waits. */
  tryAcquire(app: App): boolean {
    if (!this.mayRun(app)) return false;
    this.acquired(app);
    return true;
  }

  /**
   * Counts a held permit towards the permits of the app. Returns false if the app holds half of all permits, or earlier requests of the
   * app wait.
   */
  tryAssign(app: string): boolean {
    const held = this.runningByApp.get(app) ?? 0;
    if (held >= this.permitsPerApp || this.surplus.countOf(app) > 0) return false;
    this.runningByApp.set(app, held + 1);
    return true;
  }

  /**
   * Waits for a permit.
   * @param receiveCancel receives a function that makes the request leave the queue
   * @throws ServiceUnavailable if the queue is full, after the timeout, or when the client disconnects
   */
  enqueue(
    queue: WaitingRequests,
    app: App,
    receiveCancel: (cancel: () => void) => void,
  ): Promise<true> {
    if (queue.countOf(app) >= this.queueLimit) throw overloadError();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        queue.delete(app, waiter);
      };
      const cancel = (): void => {
        leave();
        reject(overloadError());
      };
      const waiter = (): void => {
        leave();
        this.acquired(app);
        resolve(true);
      };
      const timer = setTimeout(cancel, this.timeoutMs);
      queue.add(app, waiter);
      receiveCancel(cancel);
    });
  }

  /** @param successor the app whose oldest waiting request gets the permit first, if the app may have another permit */
  release(app: App, successor?: string): void {
    this.running -= 1;
    if (app !== undefined) {
      const held = (this.runningByApp.get(app) ?? 0) - 1;
      if (held > 0) this.runningByApp.set(app, held);
      else this.runningByApp.delete(app);
    }
    const mayRun = (waiting: App): boolean => this.mayRun(waiting);
    if (successor !== undefined)
      this.surplus.next((waiting) => waiting === successor && mayRun(waiting))?.();
    for (const queue of [this.resuming, this.queue, this.surplus])
      for (let waiter = queue.next(mayRun); waiter; waiter = queue.next(mayRun)) waiter();
  }

  private mayRun(app: App): boolean {
    return (
      this.running < this.permits &&
      (app === undefined || (this.runningByApp.get(app) ?? 0) < this.permitsPerApp)
    );
  }

  private acquired(app: App): void {
    this.running += 1;
    if (app !== undefined) this.runningByApp.set(app, (this.runningByApp.get(app) ?? 0) + 1);
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
  private app: App;
  private reservedBytes = 0;
  /** Makes the request leave the queue. */
  private cancel?: () => void;

  constructor(private readonly bulkhead: Bulkhead) {}

  /** Takes a free permit, or waits in the queue for one. @throws ServiceUnavailable */
  acquire(queue: WaitingRequests): true | Promise<true> {
    if (this.bulkhead.tryAcquire(this.app)) {
      this.isHeld = true;
      restartDeadline();
      return true;
    }
    return this.bulkhead
      .enqueue(queue, this.app, (cancel) => (this.cancel = cancel))
      .then(() => {
        this.cancel = undefined;
        this.isHeld = true;
        restartDeadline();
        return true;
      });
  }

  /**
   * Call when the app is authenticated. If the app holds half of all permits, the request waits in the queue of the app. If earlier
   * requests wait there, the oldest of them gets the permit, since new requests would otherwise overtake them.
   * @throws ServiceUnavailable
   */
  assign(app: string): true | Promise<true> {
    if (!this.isHeld) return true;
    if (this.bulkhead.tryAssign(app)) {
      this.app = app;
      return true;
    }
    this.releaseHeld(app);
    this.app = app;
    return this.bulkhead.waitForTurn(this);
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

  private releaseHeld(successor?: string): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.bulkhead.release(this.app, successor);
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
