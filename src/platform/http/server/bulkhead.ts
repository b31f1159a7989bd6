import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { Overloaded } from '../../errors.js';
import { restartDeadline } from '../../request-context.js';
import { HEALTH_ROUTES, routeOf } from '../http-request-context.js';

/*
 * A bulkhead with bounded queues (load shedding): with a thousand concurrent requests, each response would take as long as all together.
 * A running request holds a permit of the process and, once it is authenticated, one of its app, which has two thirds as many. Others
 * wait in FIFO order, and get 503 with `Retry-After` if the queue is full or they time out.
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

/** One busy app leaves permits for others. If two are busy, others wait in the queue of the process, behind up to a third of its permits. */
const SHARE_OF_APP = 2 / 3;

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

  /** @throws Overloaded if the queue is full, after the timeout, or when the client disconnects */
  async acquire(timeoutMs: number, response: Response): Promise<void> {
    if (this.tryAcquire()) return;
    if (this.queue.size >= this.queueLimit) throw new Overloaded();
    await new Promise<void>((resolve, reject) => {
      const leaveAnd = (settle: () => void) => (): void => {
        clearTimeout(timer);
        response.off('close', refuse);
        this.queue.delete(grant);
        settle();
      };
      const grant = leaveAnd(resolve);
      const refuse = leaveAnd(() => reject(new Overloaded()));
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

/** Sheds load before authentication, but serves health checks. Each endpoint returns the error in its own format. */
@Injectable()
export class Bulkhead implements CanActivate {
  /** Those of the apps that have been authenticated since the start, by id; and that of the process, whose key is undefined. */
  private readonly semaphores = new Map<string | undefined, Semaphore>();

  constructor(readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    if (HEALTH_ROUTES.has(routeOf(request))) return true;
    request.context.permit = new Permit(this, response);
    await request.context.permit.acquire();
    return true;
  }

  semaphore(app?: string): Semaphore {
    const { poolSize, queueLimit } = this.config.database;
    const permits = poolSize * PERMITS_PER_CONNECTION * (app === undefined ? 1 : SHARE_OF_APP);
    const semaphore = this.semaphores.get(app) ?? new Semaphore(Math.floor(permits), queueLimit);
    this.semaphores.set(app, semaphore);
    return semaphore;
  }

  /** Requests in all queues. */
  get waiting(): number {
    return [...this.semaphores.values()].reduce((sum, { queue }) => sum + queue.size, 0);
  }
}

/** The permits of one request. */
export class Permit {
  /** In the order in which the request waits for them. */
  private readonly needed: Semaphore[];
  private held: Semaphore[] = [];
  /** Time left to wait, in all queues together. */
  private remainingMs: number;
  isClosed = false;

  constructor(
    private readonly bulkhead: Bulkhead,
    private readonly response: Response,
  ) {
    this.needed = [bulkhead.semaphore()];
    this.remainingMs = bulkhead.config.database.queueTimeoutMs;
    response.once('close', () => {
      this.isClosed = true;
      // A handler without a response continues, and holds its permits until it has one.
      if (response.headersSent) this.release();
    });
  }

  /** Takes a permit of the process, after one of the app if it is known. @throws Overloaded */
  async acquire(): Promise<void> {
    if (this.isClosed) throw new Overloaded();
    for (const semaphore of this.needed) {
      const startedAt = performance.now();
      await semaphore.acquire(this.remainingMs, this.response);
      this.remainingMs -= performance.now() - startedAt;
      this.held.push(semaphore);
    }
    restartDeadline();
  }

  /** Takes a permit of the app, once it is authenticated. @throws Overloaded */
  async assign(app: string): Promise<void> {
    const semaphore = this.bulkhead.semaphore(app);
    this.needed.unshift(semaphore);
    if (semaphore.tryAcquire()) this.held.push(semaphore);
    else {
      this.release();
      await this.acquire();
    }
  }

  /** Call while the body is received, because slow clients must not hold permits, and when the response is written, even if unread. */
  release(): void {
    for (const semaphore of this.held) semaphore.release();
    this.held = [];
  }
}
