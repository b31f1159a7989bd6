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

/** `leaving`: not ready, but serving whoever does not know yet. `ending`: serving only what it had begun. */
type Phase = 'serving' | 'leaving' | 'ending';

/** How long requests are refused in words before the port closes. */
const REFUSING_MS = SECOND;

/** Ends the service without an answer that its clients wait for in vain. */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  private phase: Phase = 'serving';
  private unanswered = 0;
  /** By connection, since a set that each request enters and leaves keeps many of them alive for long (decision 0019). */
  private readonly latest = new Map<Socket, Response | undefined>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  get isUnderWay(): boolean {
    return this.phase !== 'serving';
  }

  /** Whether a request that comes now is refused in words. */
  get isRefusing(): boolean {
    return this.phase === 'ending';
  }

  /**
   * Makes the service unready at once, gives whoever sends it requests the configured time to notice, and then refuses new
   * ones. What was begun is waited for when the application closes.
   */
  async leave(): Promise<void> {
    const { shutdownDelayMs } = this.config.server;
    this.phase = 'leaving';
    await sleep(shutdownDelayMs);
    this.phase = 'ending';
    await sleep(Math.min(shutdownDelayMs, REFUSING_MS));
  }

  /** Nest waits for the server's last connection after this. */
  beforeApplicationShutdown(): void {
    this.phase = 'ending';
    for (const response of this.latest.values()) if (response) closeAfter(response);
    this.server?.close();
    this.hangUpOnceAnswered();
  }

  /** Middleware for every request: knows whose answer is still to be waited for, and ends its connection with it. */
  readonly track = ({ socket }: Request, response: Response, next: NextFunction): void => {
    if (this.isUnderWay) closeAfter(response);
    if (!this.latest.has(socket)) socket.once('close', () => this.latest.delete(socket));
    this.latest.set(socket, response);
    this.unanswered += 1;
    response.once('close', () => {
      if (socket.destroyed) this.latest.delete(socket);
      else if (this.latest.get(socket) === response) this.latest.set(socket, undefined);
      this.unanswered -= 1;
      this.hangUpOnceAnswered();
    });
    next();
  };

  /** Node's server would wait for connections, too, on which nothing was ever asked. */
  private hangUpOnceAnswered(): void {
    if (this.unanswered === 0 && this.server?.listening === false)
      this.server.closeAllConnections();
  }

  /** A command has none. */
  private get server(): Server | undefined {
    return this.host.httpAdapter?.getHttpServer() as Server | undefined;
  }
}

function closeAfter(response: Response): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** Ends the process at the first SIGTERM, SIGINT or SIGHUP: in order, with exit code 0. At the second it ends at once, with 1. */
export function endOnSignals(app: INestApplication): void {
  const logger = new Logger(Shutdown.name);
  let isEnding = false;
  const end = async (): Promise<void> => {
    try {
      await app.get(Shutdown).leave();
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

/** Another process answers by then. */
const RETRY_SECONDS = 1;

/** Refuses what comes when the service ends, each route in its own shape. Its health may be asked for to the end. */
@Injectable()
export class ShutdownGuard implements CanActivate {
  constructor(private readonly shutdown: Shutdown) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.shutdown.isRefusing && !isAlwaysServed(context))
      throw new ServiceUnavailable(RETRY_SECONDS);
    return true;
  }
}
