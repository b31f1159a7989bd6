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

  /** Why not, in words for operators; undefined when it may. Those who ask at once are told the same: anybody may ask, and often. */
  problem(): Promise<string | undefined> {
    this.asked ??= this.ask().finally(() => {
      this.asked = undefined;
    });
    return this.asked;
  }

  private async ask(): Promise<string | undefined> {
    if (this.shutdown.isUnderWay) return 'the service is shutting down';
    try {
      if (!(await this.migrator.isCurrent())) return 'migrations are pending';
      return await this.clockSkew.problem();
    } catch {
      return 'the database is away';
    }
  }
}
