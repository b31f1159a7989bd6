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

/** `leaving`: not ready, but still serving load balancers that have not noticed. `ending`: finishing open requests only. */
type Phase = 'serving' | 'leaving' | 'ending';

/** Time from the first refused request to the closing of the port. */
const REFUSING_MS = SECOND;

/** Graceful shutdown: every request that was accepted gets its response. */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  private phase: Phase = 'serving';
  private openResponses = 0;
  /** By connection: a set of responses would promote them to the old generation (decision 0019). */
  private readonly latest = new Map<Socket, Response | undefined>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  get isUnderWay(): boolean {
    return this.phase !== 'serving';
  }

  get isRefusing(): boolean {
    return this.phase === 'ending';
  }

  /** Reports "not ready", keeps serving for the configured delay, then refuses new requests. */
  async drain(): Promise<void> {
    const { shutdownDelayMs } = this.config.server;
    this.phase = 'leaving';
    await sleep(shutdownDelayMs);
    this.phase = 'ending';
    await sleep(Math.min(shutdownDelayMs, REFUSING_MS));
  }

  /** After this, Nest waits until the server has no connections. */
  beforeApplicationShutdown(): void {
    this.phase = 'ending';
    for (const response of this.latest.values()) if (response) closeAfter(response);
    this.server?.close();
    this.closeIdleConnections();
  }

  /** Middleware: counts open responses, and closes their connections during shutdown. */
  readonly track = ({ socket }: Request, response: Response, next: NextFunction): void => {
    if (this.isUnderWay) closeAfter(response);
    if (!this.latest.has(socket)) socket.once('close', () => this.latest.delete(socket));
    this.latest.set(socket, response);
    this.openResponses += 1;
    response.once('close', () => {
      if (socket.destroyed) this.latest.delete(socket);
      else if (this.latest.get(socket) === response) this.latest.set(socket, undefined);
      this.openResponses -= 1;
      this.closeIdleConnections();
    });
    next();
  };

  /** Node would also wait for connections without a request. */
  private closeIdleConnections(): void {
    if (this.openResponses === 0 && this.server?.listening === false)
      this.server.closeAllConnections();
  }

  /** Undefined in the command line. */
  private get server(): Server | undefined {
    return this.host.httpAdapter?.getHttpServer() as Server | undefined;
  }
}

function closeAfter(response: Response): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** The first SIGTERM, SIGINT or SIGHUP shuts down gracefully, with exit code 0; the second exits at once, with 1. */
export function shutDownOnSignals(app: INestApplication): void {
  const logger = new Logger(Shutdown.name);
  let isEnding = false;
  const end = async (): Promise<void> => {
    try {
      await app.get(Shutdown).drain();
      await app.close();
      process.exit(0);
    } catch (error) {
      logger.error('The service could not end in order.', (error as Error).stack);
      process.exit(1);
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isEnding) process.exit(1);
    isEnding = true;
    logger.log(`${signal}: finishing what was begun. A second signal ends the service at once.`);
    void end();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
}

const RETRY_SECONDS = 1;

/** Refuses new requests during shutdown, except health probes. */
@Injectable()
export class ShutdownGuard implements CanActivate {
  constructor(private readonly shutdown: Shutdown) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.shutdown.isRefusing && !isAlwaysServed(context))
      throw new ServiceUnavailable(RETRY_SECONDS);
    return true;
  }
}
