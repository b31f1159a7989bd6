import { Gauge, type Registry } from 'prom-client';

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
