import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { isTestApp } from '../ids.js';

/** The value of the label `mode`: test apps must not change the figures of real ones. The client ids of test apps have their own prefix. */
export function modeOf(clientId: string | undefined): 'test' | 'live' {
  return isTestApp(clientId) ? 'test' : 'live';
}

/** The metrics registry of the application. Clients must not control the value of a label. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Registers a gauge without labels. Calls `read` at every scrape. */
  registerGauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [], collect: () => gauge.set(read()) });
    this.registry.registerMetric(gauge);
  }
}

export interface Sample<L extends string> {
  labels: Record<L, string>;
  value: number;
}

/** Registers a gauge of stored values. Reads them at every scrape; if reading fails, the gauge has no values. */
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
