import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.js';

export default defineConfig({
  test: {
    globals: true,
    // Measurements take long: each has a script of its own.
    include:
      process.env.MEASURE === '1'
        ? ['test/measure/*.measure.ts']
        : ['src/**/*.spec.ts', 'test/**/*-spec.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
    setupFiles: ['./test/support/contract/collector-setup.ts'],
    reporters: ['default', new SummaryReporter()],
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
