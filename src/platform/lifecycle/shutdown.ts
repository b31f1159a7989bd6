import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  Logger,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { SECOND } from '../clock.js';
import { AppConfig } from '../config/app-config.js';
import { ServiceUnavailable } from '../errors.js';
import { isAlwaysServed } from '../http/server/always-served.decorator.js';

/** `draining`: not ready, but still serves, until load balancers notice. `stopping`: rejects new requests. */
type Phase = 'serving' | 'draining' | 'stopping';

/** Maximum time for which new requests are rejected before the port closes. */
const MAX_REJECTING_MS = SECOND;

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

  get isRejecting(): boolean {
    return this.phase === 'stopping';
  }

  /** Reports "not ready", keeps serving for SHUTDOWN_DELAY_MS, then rejects new requests for up to a second. */
  async drain(): Promise<void> {
    const { shutdownDelayMs } = this.config.server;
    this.phase = 'draining';
    await sleep(shutdownDelayMs);
    this.phase = 'stopping';
    await sleep(Math.min(shutdownDelayMs, MAX_REJECTING_MS));
  }

  /** Stops accepting connections. Nest calls this method, and then waits until the server has no connections. */
  beforeApplicationShutdown(): void {
    this.phase = 'stopping';
    for (const response of this.latestResponses.values()) if (response) closeAfter(response);
    this.server?.close();
    this.closeIdleConnections();
  }

  /** Middleware that counts open responses, and closes their connections during shutdown. */
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
      this.closeIdleConnections();
    });
    next();
  };

  /**
   * After the port has closed: closes all connections once no response is open, because Node would wait for connections that never
   * sent a request.
   */
  private closeIdleConnections(): void {
    if (this.openResponses === 0 && this.server?.listening === false)
      this.server.closeAllConnections();
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

const RETRY_SECONDS = 1;

/** Rejects new requests, except health probes, once the phase `draining` has ended. */
@Injectable()
export class ShutdownGuard implements CanActivate {
  constructor(private readonly shutdown: Shutdown) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.shutdown.isRejecting && !isAlwaysServed(context))
      throw new ServiceUnavailable(RETRY_SECONDS);
    return true;
  }
}
