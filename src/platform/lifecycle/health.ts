import { Injectable } from '@nestjs/common';
import { Migrator } from '../database/migrations/migrator.js';
import { ClockSkew } from './clock-skew.js';
import { Shutdown } from './shutdown.js';

/** Whether this process should receive traffic. */
@Injectable()
export class Readiness {
  private pending?: Promise<string | undefined>;

  constructor(
    private readonly migrator: Migrator,
    private readonly clockSkew: ClockSkew,
    private readonly shutdown: Shutdown,
  ) {}

  /** Why this process is not ready, for operators; undefined if it is ready. Concurrent requests share one check of the database. */
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
      if (!(await this.migrator.isCurrent())) return 'migrations are pending';
      return await this.clockSkew.problem();
    } catch {
      return 'the database is unavailable';
    }
  }
}
