import { Global, Injectable, Module } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';

/** The metrics of this process. Each part of the service registers its own; no label may take values that clients choose. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly otpSendFailures = new Counter({
    name: 'otp_send_failures_total',
    help: 'One-time passwords that could not be sent, after all tries.',
    registers: [this.registry],
  });

  /** Registers a gauge without labels, which is read at every scrape. */
  registerGauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [], collect: () => gauge.set(read()) });
    this.registry.registerMetric(gauge);
  }
}

export interface Sample<L extends string> {
  labels: Record<L, string>;
  value: number;
}

/** Registers a gauge of stored values, which is read at every scrape. If reading fails, it has no values. */
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
