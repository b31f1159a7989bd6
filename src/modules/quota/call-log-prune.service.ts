import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppConfig } from '../../config/app-config.js';
import type { ExpiredRows } from '../../database/expired-rows.js';
import { callsKeptSince } from './call-log-retention.js';
import { CallsRepository } from './calls.repository.js';
import { UsageRollup } from './usage/usage-rollup.service.js';

/** The calls that are kept no longer. */
@Injectable()
export class CallLogPrune {
  constructor(
    private readonly calls: CallsRepository,
    private readonly usage: UsageRollup,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  expired(): ExpiredRows {
    return this.calls.before(callsKeptSince(this.clock.now(), this.config));
  }

  /** The same once they are in the totals: none goes that would be missing there. @param stopAt when to leave the rest for later */
  async counted(stopAt?: Date): Promise<ExpiredRows> {
    const end = callsKeptSince(this.clock.now(), this.config);
    const { until } = await this.usage.runBefore(end, stopAt);
    return this.calls.before(until);
  }
}
