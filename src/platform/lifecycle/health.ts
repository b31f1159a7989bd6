import { Injectable } from '@nestjs/common';
import { Clock, SECOND } from '../clock.js';
import { DatabaseClock } from '../database/database-status.js';
import { Migrator } from '../database/migrations/migrator.js';
import { Shutdown } from './shutdown.js';

/** Maximum difference between a process and the database, so the clocks of two processes may differ by twice as much. */
const MAX_SKEW_MS = 5 * SECOND;

/** Compares the clock of this process with the clock of the database, which all processes share. */
@Injectable()
export class ClockSkew {
  constructor(
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * A message for operators; undefined if there is no problem. The database reads its clock between query and result, so only
   * a time outside of this interval is skew.
   */
  async problem(): Promise<string | undefined> {
    const before = this.clock.now().getTime();
    const database = (await this.databaseClock.now())?.getTime();
    const after = this.clock.now().getTime();
    if (database === undefined) return undefined;
    const ahead = before - database;
    const behind = database - after;
    if (Math.max(ahead, behind) <= MAX_SKEW_MS) return undefined;
    const seconds = (Math.max(ahead, behind) / SECOND).toFixed(1);
    return `the clock of this process is ${seconds} s ${ahead > behind ? 'ahead of' : 'behind'} the database's: synchronize both machines with a time server (NTP)`;
  }
}

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
