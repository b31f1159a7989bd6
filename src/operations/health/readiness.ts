import { Injectable } from '@nestjs/common';
import { Clock, SECOND } from '../../common/clock.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { Migrator } from '../../database/migrator.js';
import { Shutdown } from '../shutdown/shutdown.js';

/** Two processes whose clocks are each that far off may disagree by twice as much on when a code or token ends. */
const MOST_SKEW_MS = 5 * SECOND;

/** Whether this process may get traffic. */
@Injectable()
export class Readiness {
  constructor(
    private readonly migrator: Migrator,
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
    private readonly shutdown: Shutdown,
  ) {}

  /** Why not, in words for operators; undefined when it may. */
  async problem(): Promise<string | undefined> {
    if (this.shutdown.isUnderWay) return 'the service is shutting down';
    try {
      if (!(await this.migrator.isCurrent())) return 'migrations are pending';
      return await this.clockProblem();
    } catch {
      return 'the database is away';
    }
  }

  /** The database reads its clock some time between the question and the answer: only what is outside of that is skew. */
  private async clockProblem(): Promise<string | undefined> {
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
