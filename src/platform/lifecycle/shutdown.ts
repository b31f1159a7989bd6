import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  type INestApplication,
  Injectable,
  Logger,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { SECOND } from '../clock.js';
import { AppConfig } from '../config/app-config.js';

/**
 * `draining`: not ready, but still serves, until load balancers notice. The port closes at the end of this phase. `stopping`: finishes
 * open requests, and closes all connections after the last.
 */
type Phase = 'serving' | 'draining' | 'stopping';

/** Maximum time for which open connections are served after the port has closed. */
const MAX_LAST_REQUESTS_MS = SECOND;

/** Graceful shutdown: every accepted request gets its response. */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  private phase: Phase = 'serving';
  private openResponses = 0;
  /**
   * The latest response of each connection; undefined once that response is closed. Not a `Set` that each response enters and leaves:
   * V8 would keep deleted entries of such a set reachable, so that the garbage collector promotes closed responses to the old
   * generation, which is slow (decision 0019).
   */
  private readonly latestResponses = new Map<Socket, Response | undefined>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  get isShuttingDown(): boolean {
    return this.phase !== 'serving';
  }

  /**
   * Reports "not ready" and keeps serving for SHUTDOWN_DELAY_MS. Then closes the port, and serves open connections for up to a second
   * more. A proxy sends a request elsewhere if its connection is refused, but not if it gets 503, or if a connection of its pool is
   * closed while the request is on its way.
   */
  async drain(): Promise<void> {
    const { shutdownDelayMs } = this.config.server;
    this.phase = 'draining';
    this.closeAfterResponses();
    await sleep(shutdownDelayMs);
    // The event loop accepts all waiting connections before it runs immediates. The kernel would reset those that wait.
    await nextTurn();
    this.closePort();
    await sleep(Math.min(shutdownDelayMs, MAX_LAST_REQUESTS_MS));
  }

  /** Closes idle connections, and the others after their response. Nest calls this method, and then waits until none is open. */
  async beforeApplicationShutdown(): Promise<void> {
    this.phase = 'stopping';
    this.closeAfterResponses();
    this.closePort();
    await this.closeIdleConnections();
  }

  private closeAfterResponses(): void {
    for (const response of this.latestResponses.values()) if (response) closeAfter(response);
  }

  /** Unlike `close` of `node:http`, does not close idle connections. */
  private closePort(): void {
    if (this.server?.listening) NetServer.prototype.close.call(this.server);
  }

  /** Middleware that counts open responses, and closes the connections of responses during shutdown. */
  readonly track = ({ socket }: Request, response: Response, next: NextFunction): void => {
    if (this.isShuttingDown) closeAfter(response);
    if (!this.latestResponses.has(socket))
      socket.once('close', () => this.latestResponses.delete(socket));
    this.latestResponses.set(socket, response);
    this.openResponses += 1;
    response.once('close', () => {
      if (socket.destroyed) this.latestResponses.delete(socket);
      else if (this.latestResponses.get(socket) === response)
        this.latestResponses.set(socket, undefined);
      this.openResponses -= 1;
      if (this.openResponses === 0) void this.closeIdleConnections();
    });
    next();
  };

  /**
   * When stopping: closes idle connections, and all once no response is open, because Node would wait for connections that never sent a
   * request. One at a time: between two immediates, the event loop reads the requests that have arrived, whose connections are not idle.
   */
  private async closeIdleConnections(): Promise<void> {
    if (this.phase !== 'stopping') return;
    for (const socket of this.latestResponses.keys()) {
      await nextTurn();
      if (!this.latestResponses.get(socket)) socket.destroy();
    }
    if (this.openResponses === 0) this.server?.closeAllConnections();
  }

  /** Undefined in the command line, which has no HTTP server. */
  private get server(): Server | undefined {
    return this.host.httpAdapter?.getHttpServer() as Server | undefined;
  }
}

function closeAfter(response: Response): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/**
 * The first SIGTERM, SIGINT or SIGHUP shuts down gracefully, with exit code 0; the second exits at once, with 1.
 * @param afterClose runs when the last request has ended
 */
export function shutDownOnSignals(app: INestApplication, afterClose?: () => Promise<void>): void {
  const logger = new Logger(Shutdown.name);
  let wasSignaled = false;
  const stop = async (): Promise<void> => {
    try {
      await app.get(Shutdown).drain();
      await app.close();
      await afterClose?.();
      process.exit(0);
    } catch (error) {
      logger.error('The graceful shutdown failed.', (error as Error).stack);
      process.exit(1);
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (wasSignaled) process.exit(1);
    wasSignaled = true;
    logger.log(
      `Received ${signal}: finishing open requests. A second signal ends the process at once.`,
    );
    void stop();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
}
