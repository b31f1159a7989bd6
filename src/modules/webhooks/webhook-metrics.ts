import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Clock, SECOND } from '../../platform/clock.js';
import { Metrics, modeOf, registerStoredGauge } from '../../platform/observability/metrics.js';
import { type EndpointState, WebhooksRepository } from './webhooks.repository.js';

const RESULTS = ['delivered', 'failed'] as const;
const REASONS = ['status_410', 'failures'] as const;

/** Counters of the deliveries of this process, and gauges of each enabled endpoint of an enabled app. */
@Injectable()
export class WebhookMetrics {
  readonly deliveriesTotal: Counter<'result' | 'mode'>;
  readonly disabledTotal: Counter<'reason' | 'mode'>;

  constructor(metrics: Metrics, repository: WebhooksRepository, clock: Clock) {
    this.deliveriesTotal = metrics.counter(
      'webhook_deliveries_total',
      'Attempts to deliver events to apps, by result: delivered or failed.',
      'result',
      'mode',
    );
    for (const result of RESULTS) this.deliveriesTotal.inc({ result, mode: 'live' }, 0);
    this.disabledTotal = metrics.counter(
      'webhook_endpoints_disabled_total',
      'Endpoints that the service has disabled, by reason: status_410 or failures.',
      'reason',
      'mode',
    );
    for (const reason of REASONS) this.disabledTotal.inc({ reason, mode: 'live' }, 0);

    const registerAge = (
      name: string,
      help: string,
      since: (state: EndpointState) => Date | null,
    ) =>
      registerStoredGauge(
        metrics.registry,
        { name, help, labelNames: ['client_id', 'mode'] },
        async () => {
          const now = clock.now().getTime();
          return (await repository.states()).map((state) => ({
            labels: { client_id: state.clientId, mode: modeOf(state.clientId) },
            value: Math.max(0, now - (since(state)?.getTime() ?? now)) / SECOND,
          }));
        },
      );
    registerAge(
      'webhook_oldest_due_seconds',
      'For how long the oldest event of an enabled endpoint has been due. 0 if none is due.',
      ({ dueAt }) => dueAt,
    );
    registerAge(
      'webhook_failing_seconds',
      'For how long all deliveries to an enabled endpoint have failed. 0 if the last one did not.',
      ({ failingSince }) => failingSince,
    );
  }
}
