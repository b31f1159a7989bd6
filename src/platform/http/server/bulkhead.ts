import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { ServiceUnavailable } from '../../errors.js';
import { restartDeadline } from '../../request-context.js';

/*
 * A bulkhead with bounded queues (load shedding).
 *
 * Node accepts every request. With a thousand concurrent requests, each response takes as long as all responses together. So a running
 * request holds a permit of the process and, once it is authenticated, one of its app, which has half as many. Others wait in FIFO
 * order, and get 503 with `Retry-After` if the queue is full or they time out.
 *
 * A request that waits for a permit of its app holds none of the process. So all requests in the queue of the process may run, and a
 * busy app fills only its own queue. Delete the bulkhead if a proxy limits the concurrent requests per process.
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
const ALWAYS_SERVED = 'http:always-served';

/** Serves the routes of this controller even under overload. For health checks. */
export const AlwaysServed = (): ClassDecorator => SetMetadata(ALWAYS_SERVED, true);

/** A number of permits, and a FIFO queue of requests that wait for one. */
class Semaphore {
  /** Each function passes a permit to a request. */
  readonly queue = new Set<() => void>();

  constructor(
    private free: number,
    private readonly queueLimit: number,
  ) {}

  /** Does not overtake the queue: `release` passes permits on, so none is free while requests wait. */
  tryAcquire(): boolean {
    if (this.free === 0) return false;
    this.free -= 1;
    return true;
  }

  /** @throws ServiceUnavailable if the queue is full, after the timeout, or when the client disconnects */
  async acquire(timeoutMs: number, response: Response): Promise<void> {
    if (this.tryAcquire()) return;
    if (this.queue.size >= this.queueLimit) throw overloadError();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        response.off('close', refuse);
        this.queue.delete(grant);
      };
      const grant = (): void => {
        leave();
        resolve();
      };
      const refuse = (): void => {
        leave();
        reject(overloadError());
      };
      const timer = setTimeout(refuse, timeoutMs);
      response.once('close', refuse);
      this.queue.add(grant);
    });
  }

  release(): void {
    const [grant] = this.queue;
    if (grant) grant();
    else this.free += 1;
  }
}

/** Sheds load before authentication. Each endpoint returns the error in its own format. */
@Injectable()
export class Bulkhead implements CanActivate {
  readonly process: Semaphore;
  readonly queueTimeoutMs: number;
  /** The apps that have been authenticated since the start. */
  private readonly apps = new Map<string, Semaphore>();
  private readonly permitsPerApp: number;
  private readonly queueLimit: number;
  /** Memory reserved for the bodies that are being received. */
  receivingBytes = 0;

  constructor({ database: { poolSize, queueLimit, queueTimeoutMs } }: AppConfig) {
    const permits = poolSize * PERMITS_PER_CONNECTION;
    this.process = new Semaphore(permits, queueLimit);
    this.permitsPerApp = Math.floor(permits / 2);
    this.queueLimit = queueLimit;
    this.queueTimeoutMs = queueTimeoutMs;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (Reflect.getMetadata(ALWAYS_SERVED, context.getClass()) === true) return true;
    const [request, response] = context.getArgs<[Request, Response]>();
    request.context.permit = new Permit(this, response);
    await request.context.permit.acquire();
    return true;
  }

  app(id: string): Semaphore {
    const app = this.apps.get(id) ?? new Semaphore(this.permitsPerApp, this.queueLimit);
    this.apps.set(id, app);
    return app;
  }

  /** Requests in all queues. */
  get waiting(): number {
    const queues = [this.process, ...this.apps.values()].map(({ queue }) => queue.size);
    return queues.reduce((sum, size) => sum + size);
  }
}

/** The permits of one request. */
export class Permit {
  private app?: Semaphore;
  private held: Semaphore[] = [];
  /** Time left to wait, in all queues together. */
  private remainingMs: number;
  private isClosed = false;

  constructor(
    private readonly bulkhead: Bulkhead,
    private readonly response: Response,
  ) {
    this.remainingMs = bulkhead.queueTimeoutMs;
    response.once('close', () => {
      this.isClosed = true;
      // A handler without a response continues, and holds its permits until it has one.
      if (response.headersSent) this.release();
    });
  }

  /** Takes a permit of the process, after one of the app if it is known. @throws ServiceUnavailable */
  async acquire(): Promise<void> {
    if (this.isClosed) throw overloadError();
    const { process } = this.bulkhead;
    for (const semaphore of this.app ? [this.app, process] : [process]) {
      const startedAt = performance.now();
      await semaphore.acquire(this.remainingMs, this.response);
      this.remainingMs -= performance.now() - startedAt;
      this.held.push(semaphore);
    }
    restartDeadline();
  }

  /** Takes a permit of the app, once it is authenticated. @throws ServiceUnavailable */
  async assign(app: string): Promise<void> {
    this.app = this.bulkhead.app(app);
    if (this.app.tryAcquire()) {
      this.held.push(this.app);
      return;
    }
    this.release();
    await this.acquire();
  }

  /**
   * Releases the permits while the body is received: slow clients must not hold them.
   * @param bytes memory to reserve for the body; 0 for small bodies, which are not counted
   * @throws ServiceUnavailable if the bodies that are being received could take too much memory
   */
  suspend(bytes: number): void {
    if (this.bulkhead.receivingBytes + bytes > MAX_RECEIVING_BYTES) throw overloadError();
    this.bulkhead.receivingBytes += bytes;
    this.release();
  }

  /** Takes the permits again, unless the client has disconnected. @throws ServiceUnavailable */
  async resume(bytes: number): Promise<void> {
    this.bulkhead.receivingBytes -= bytes;
    if (!this.isClosed) await this.acquire();
  }

  /** Call when the response is written, even if the client has not read it. */
  release(): void {
    for (const semaphore of this.held) semaphore.release();
    this.held = [];
  }
}

/** Jitter of `Retry-After` spreads the retries. */
function overloadError(): ServiceUnavailable {
  return new ServiceUnavailable(1 + Math.floor(Math.random() * MAX_RETRY_AFTER_SECONDS));
}
