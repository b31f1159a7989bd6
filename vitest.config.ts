import { defineConfig } from 'vitest/config';
import { FiguresReporter } from './test/faults/figures-reporter.js';
import { LongestFirst } from './test/faults/longest-first.js';
import { IS_QUICK } from './test/faults/promises.js';
import { SummaryReporter } from './test/support/summary-reporter.js';

/** `npm run test:faults`. */
const BREAKS = process.env.FAULTS !== undefined;
/** `npm run measure:…`: that takes long. */
const MEASURES = process.env.MEASURE === '1';

/** What holds for every test. */
const EVERYWHERE = {
  globals: true,
  setupFiles: ['./test/support/collector-setup.ts'],
  pool: 'forks' as const,
  // Loading Nest and TypeORM for each file anew took half of the time; nothing of ours keeps state outside of its application.
  isolate: false,
  // One more than the two cores that CI has: tests wait for servers and for time.
  maxWorkers: 3,
  testTimeout: 30_000,
  hookTimeout: 60_000,
};

/** What tests import from `src`. */
const SOURCE = /^(?:\.\.\/)+src\/(.+)$/;
/** What is built is tested, as it is shipped: it also loads sooner, since nothing is compiled. */
const BUILT = {
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
      ...EVERYWHERE,
      ...BUILT,
      name: 'faults',
      include: ['test/faults/**/*-spec.ts'],
      exclude: ALONE,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      ...EVERYWHERE,
      ...BUILT,
      name: 'faults that compare times',
      include: ALONE,
      maxWorkers: 1,
      sequence: { groupOrder: 1 },
    },
  },
];

const units = { test: { ...EVERYWHERE, name: 'units', include: ['src/**/*.spec.ts'] } };

/** `npm run test:watch` looks at the sources, whose changes it waits for. */
const service = (isWatching: boolean) => ({
  test: {
    ...EVERYWHERE,
    ...(!isWatching && BUILT),
    name: 'service',
    include: [MEASURES ? 'test/system/measure/*.measure.ts' : 'test/**/*-spec.ts'],
    exclude: ['test/faults/**'],
  },
});

export default defineConfig(({ mode }) => ({
  test: {
    projects: BREAKS ? FAULTS : [units, service(mode === 'watch')],
    ...(BREAKS && { sequence: { sequencer: LongestFirst } }),
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: ['default', new SummaryReporter(), ...(BREAKS ? [new FiguresReporter()] : [])],
    allowOnly: process.env.CI !== 'true',
  },
}));
