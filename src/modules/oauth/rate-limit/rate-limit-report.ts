import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { Budget } from './sliding-window-counter.js';

/** Counts what spent budgets keep out. */
@Injectable()
export class ThrottleMetrics {
  private readonly throttled: Counter<'budget'>;

  constructor({ registry }: Metrics) {
    this.throttled = new Counter({
      name: 'oauth_throttled_total',
      help: 'How often a budget was asked when it was spent.',
      labelNames: ['budget'],
      registers: [registry],
    });
  }

  /** Somebody met this budget when it was spent. */
  throttle({ name }: Budget): void {
    this.throttled.inc({ budget: name });
  }
}
