import { Injectable } from '@nestjs/common';
import { Migrator } from '../../database/migrator.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { ClockSkew } from './clock-skew.js';

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
