/** What was read of the metrics. */
export interface Reading {
  /** What the first series with these labels stands at; undefined when there is none. */
  (name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** The labels of all series of this name. */
  labels(name: string): string[];
}

interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads all metrics at an address, as Prometheus would. */
export async function scrape(metricsUrl: string): Promise<Reading> {
  const series = seriesIn(await (await fetch(metricsUrl)).text());
  const find = (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
    series.find(
      (one) =>
        one.name === name &&
        Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )?.value;
  const labels = (name: string): string[] =>
    series.filter((one) => one.name === name).flatMap((one) => Object.keys(one.labels));
  return Object.assign(find, { labels });
}

/** The series of a page in the text format of Prometheus. */
function seriesIn(page: string): Series[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
        value: Number(value),
      };
    });
}
