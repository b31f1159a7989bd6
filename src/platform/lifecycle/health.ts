import { Injectable } from '@nestjs/common';
import { Clock, SECOND } from '../clock.js';
import { DatabaseClock } from '../database/database-status.js';
import { Migrator } from '../database/migrations/migrator.js';
import { Shutdown } from './shutdown.js';

/** Two processes whose clocks are each that far off may disagree by twice as much on when a code or token ends. */
const MOST_SKEW_MS = 5 * SECOND;

/** How far the clock of this process is off the database's, which all processes share. */
@Injectable()
export class ClockSkew {
  constructor(
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * What is wrong, in words for operators; undefined when it is near enough. The database reads its clock some time between
   * the question and the answer: only what is outside of that is skew.
   */
  async problem(): Promise<string | undefined> {
    const asked = this.clock.now().getTime();
    const there = (await this.databaseClock.now())?.getTime();
    const answered = this.clock.now().getTime();
    if (there === undefined) return undefined;
    const ahead = asked - there;
    const behind = there - answered;
    if (Math.max(ahead, behind) <= MOST_SKEW_MS) return undefined;
    const seconds = (Math.max(ahead, behind) / SECOND).toFixed(1);
    return `the clock of this process is ${seconds} s ${ahead > behind ? 'ahead of' : 'behind'} the database's: synchronize both machines with a time server (NTP)`;
  }
}

/** Whether this process may get traffic. */
@Injectable()
export class Readiness {
  private asked?: Promise<string | undefined>;

  constructor(
    private readonly migrator: Migrator,
    private readonly clockSkew: ClockSkew,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Why not, in words for operators; undefined when it may. The database is asked once for all who ask at once: anybody may, and
   * often. Whoever asks while the service ends does not wait for it.
   */
  async problem(): Promise<string | undefined> {
    if (!this.shutdown.isUnderWay) {
      this.asked ??= this.askDatabase().finally(() => {
        this.asked = undefined;
      });
      const reason = await this.asked;
      if (!this.shutdown.isUnderWay) return reason;
    }
    return 'the service is shutting down';
  }

  private async askDatabase(): Promise<string | undefined> {
    try {
      if (!(await this.migrator.isCurrent())) return 'migrations are pending';
      return await this.clockSkew.problem();
    } catch {
      return 'the database is away';
    }
  }
}
