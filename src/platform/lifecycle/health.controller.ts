import { Controller, Get, Header, Injectable, Logger, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../access/scopes.decorator.js';
import { Migrator } from '../database/migrations/migrator.js';
import { RETRY_SECONDS } from '../errors.js';
import { retryAfter } from '../retry-after.js';
import { ClockSkew } from './clock-skew.js';
import { Shutdown } from './shutdown.js';

/** `/readyz` is public. Operators learn of pending migrations from the log and from `doctor`. */
const MAINTENANCE = 'maintenance';

/** Whether this process should receive traffic. */
@Injectable()
export class Readiness {
  private readonly logger = new Logger(Readiness.name);
  private pending?: Promise<string | undefined>;
  private reportedPending = false;

  constructor(
    private readonly migrator: Migrator,
    private readonly clockSkew: ClockSkew,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Why this process is not ready; undefined if it is ready. Concurrent requests share one check of the database, which also measures
   * the clock. A wrong clock is no reason: its times are corrected, and if that of the database is wrong, no process would be ready.
   */
  async problem(): Promise<string | undefined> {
    if (!this.shutdown.isShuttingDown) {
      this.pending ??= this.checkDatabase().finally(() => {
        this.pending = undefined;
      });
      const reason = await this.pending;
      if (!this.shutdown.isShuttingDown) return reason;
    }
    return 'the service is shutting down';
  }

  private async checkDatabase(): Promise<string | undefined> {
    try {
      const isPending = !(await this.migrator.isCurrent());
      // Once, because probes come every few seconds.
      if (isPending && !this.reportedPending)
        this.logger.warn('Not ready: migrations are pending. Run "devplatform db migrate".');
      this.reportedPending = isPending;
      if (isPending) return MAINTENANCE;
      await this.clockSkew.problem();
      return undefined;
    } catch {
      return 'the database is unavailable';
    }
  }
}

/** Liveness and readiness probes. */
@Public()
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('livez')
  @Header('Cache-Control', 'no-store')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 503 while the database is unavailable or not migrated, or the service shuts down. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async ready(
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ status: 'ok' | 'not ready'; reason?: string }> {
    const reason = await this.readiness.problem();
    if (reason === undefined) return { status: 'ok' };
    response.status(503).set(retryAfter(RETRY_SECONDS));
    return { status: 'not ready', reason };
  }
}
