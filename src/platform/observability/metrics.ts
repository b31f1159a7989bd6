import { Global, Injectable, Module } from '@nestjs/common';
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

/** One value with its labels. */
export interface Sample<L extends string> {
  labels: Record<L, string>;
  value: number;
}

/**
 * Registers a gauge of what is stored, which is read whenever the metrics are: every process tells the same. While it cannot be
 * read it has no values, and the others are told all the same.
 */
export function registerStoredGauge<L extends string>(
  registry: Registry,
  { name, help, labelNames }: { name: string; help: string; labelNames: L[] },
  read: () => Promise<Sample<L>[]>,
): void {
  const gauge: Gauge<L> = new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect: async () => {
      const samples = await read().catch(() => []);
      gauge.reset();
      for (const { labels, value } of samples) gauge.set(labels, value);
    },
  });
}

@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
