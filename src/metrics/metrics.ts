import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';

/**
 * What this process counts, by the naming rules of Prometheus. Counters start at zero with the process. Each part of the
 * service registers its own; no label may take values that callers choose.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  /** One-time passwords that no try brought to the gateway. */
  readonly otpSendFailures = new Counter({
    name: 'otp_send_failures_total',
    help: 'One-time passwords that could not be sent, after all tries.',
    registers: [this.registry],
  });

  /** A gauge without labels, which is read whenever the metrics are. */
  watch(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [], collect: () => gauge.set(read()) });
    this.registry.registerMetric(gauge);
  }
}
