import { defineConfig } from 'vitest/config';
import { FiguresReporter } from './test/faults/figures-reporter.js';
import { LongestFirst } from './test/faults/longest-first.js';
import { IS_QUICK } from './test/faults/promises.js';
import { SummaryReporter } from './test/support/summary-reporter.js';

/** `npm run test:faults`. */
const BREAKS = process.env.FAULTS !== undefined;

/** What is imported from `src`. */
const SOURCE = /^(?:\.\.\/)+src\/(.+)$/;

/** What holds for every test. */
const EVERYWHERE = {
  globals: true,
  setupFiles: ['./test/support/contract/collector-setup.ts'],
  pool: 'forks' as const,
  // Loading Nest and TypeORM for each file anew took half of the time; nothing of ours keeps state outside of its application.
  isolate: false,
  // One more than the two cores that CI has: tests wait for servers and for time.
  maxWorkers: 3,
  testTimeout: 30_000,
  hookTimeout: 60_000,
};

/** What is built is broken, as it is shipped: it also loads sooner, since nothing is compiled. */
const OF_FAULTS = {
  ...EVERYWHERE,
  alias: [{ find: SOURCE, replacement: `${import.meta.dirname}/dist/src/$1` }],
  server: { deps: { external: [/\/dist\/src\//] } },
};

/** Those that compare times, which run alone, after the others. A quick run compares roughly, and few. */
const ALONE = (IS_QUICK ? ['storm'] : ['slow-bodies', 'storm']).map(
  (name) => `test/faults/overload/${name}.e2e-spec.ts`,
);

const FAULTS = [
  {
    test: {
      ...OF_FAULTS,
      name: 'faults',
      include: ['test/faults/**/*-spec.ts'],
      exclude: ALONE,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      ...OF_FAULTS,
      name: 'faults that compare times',
      include: ALONE,
      maxWorkers: 1,
      sequence: { groupOrder: 1 },
    },
  },
];

export default defineConfig({
  test: {
    ...EVERYWHERE,
    ...(BREAKS && { projects: FAULTS, sequence: { sequencer: LongestFirst } }),
    // Measurements take long: each has a script of its own.
    include:
      process.env.MEASURE === '1'
        ? ['test/measure/*.measure.ts']
        : ['src/**/*.spec.ts', 'test/**/*-spec.ts'],
    exclude: ['test/faults/**'],
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: ['default', new SummaryReporter(), ...(BREAKS ? [new FiguresReporter()] : [])],
    allowOnly: process.env.CI !== 'true',
  },
});
