import { Injectable } from '@nestjs/common';
import { Migrator } from '../../database/migrator.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { ClockSkew } from './clock-skew.js';

/** Whether this process may get traffic. */
@Injectable()
export class Readiness {
  constructor(
    private readonly migrator: Migrator,
    private readonly clockSkew: ClockSkew,
    private readonly shutdown: Shutdown,
  ) {}

  /** Why not, in words for operators; undefined when it may. */
  async problem(): Promise<string | undefined> {
    if (this.shutdown.isUnderWay) return 'the service is shutting down';
    try {
      if (!(await this.migrator.isCurrent())) return 'migrations are pending';
      return await this.clockSkew.problem();
    } catch {
      return 'the database is away';
    }
  }
}
