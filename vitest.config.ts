import { defineConfig } from 'vitest/config';
import { FiguresReporter } from './test/faults/figures-reporter.js';
import { SummaryReporter } from './test/support/summary-reporter.js';

/** `npm run test:faults`. */
const BREAKS = process.env.FAULTS !== undefined;

export default defineConfig({
  test: {
    globals: true,
    // Measurements take long: each has a script of its own.
    include:
      process.env.MEASURE === '1'
        ? ['test/measure/*.measure.ts']
        : BREAKS
          ? ['test/faults/**/*-spec.ts']
          : ['src/**/*.spec.ts', 'test/**/*-spec.ts'],
    exclude: BREAKS ? [] : ['test/faults/**'],
    globalSetup: ['./test/support/global-setup.ts'],
    setupFiles: ['./test/support/contract/collector-setup.ts'],
    reporters: ['default', new SummaryReporter(), ...(BREAKS ? [new FiguresReporter()] : [])],
    pool: 'forks',
    // Loading Nest and TypeORM for each file anew took half of the time; nothing of ours keeps state outside of its application.
    isolate: false,
    // One more than the two cores that CI has: tests wait for servers and for time.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    allowOnly: process.env.CI !== 'true',
  },
});
