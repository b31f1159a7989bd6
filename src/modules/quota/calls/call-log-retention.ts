import { Injectable } from '@nestjs/common';
import { Clock, DAY, later, startOf } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { CallsRepository } from './calls.repository.js';
import { UsageRollup } from './usage-rollup.service.js';

/** Calls before this moment are deleted. It is the start of a UTC day, so that a day is counted from all of its calls or not at all. */
export function callsKeptSince(now: Date, { retention }: Pick<AppConfig, 'retention'>): Date {
  return startOf(later(now, -retention.callLog * DAY), DAY);
}

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
