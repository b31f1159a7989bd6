import { defineConfig } from 'vitest/config';
import { FiguresReporter } from './test/faults/figures-reporter.js';
import { LongestFirst } from './test/longest-first.js';
import { IS_QUICK, SUITE } from './test/suite.js';
import type { EngineSelection } from './test/support/database.js';
import { SummaryReporter } from './test/support/summary-reporter.js';

/** The tests use the same SQLite driver as the service (`sqliteDriver`). */
const SQLITE_DRIVER =
  Number(process.versions.node.split('.')[0]) < 22
    ? []
    : [{ find: /^better-sqlite3$/, replacement: 'better-sqlite3-13' }];

const COMMON = {
  alias: SQLITE_DRIVER,
  globals: true,
  setupFiles: ['./test/support/collector-setup.ts'],
  pool: 'forks' as const,
  // Loading Nest and TypeORM again for each file took half of the time. Our modules keep no state outside of their application.
  isolate: false,
  // More than the two cores of CI: tests wait for servers and timers. The tests of the rules wait most, for erasures.
  maxWorkers: SUITE === 'rules' ? 4 : 3,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // The database engine of a test file that needs no particular one is selected by the hash of the file name plus this number.
  provide: { engineShift: 0, selection: 'all' as EngineSelection },
};

/** Tests import `dist`, the code that ships: it also loads faster, since no worker compiles it. */
const BUILT = {
  alias: [
    ...SQLITE_DRIVER,
    { find: /^(?:\.\.\/)+src\/(.+)$/, replacement: `${import.meta.dirname}/dist/src/$1` },
  ],
  server: { deps: { external: [/\/dist\/src\//] } },
};

/** Tests of the rules of the product. Most of these files need no particular database engine, so they run on one engine only. */
const RULES = ['test/*/**/*-spec.ts'];
const NOT_RULES = ['test/system/**', 'test/faults/**'];

/** `npm test`. `npm run test:watch` imports the sources, so that Vitest sees their changes. */
const rules = ({ isWatching }: { isWatching: boolean }) => [
  { test: { ...COMMON, name: 'units', include: ['src/**/*.spec.ts'] } },
  {
    test: {
      ...COMMON,
      ...(!isWatching && BUILT),
      name: 'rules',
      include: RULES,
      exclude: NOT_RULES,
    },
  },
];

/** Tests on every server, in CI as well: statements whose types of columns depend on the server. */
const ON_EVERY_SERVER = [
  'test/database/{audit-trail,batched-statements,columns,connection-set-up,migrations}.db-spec.ts',
  'test/database/{short-lock-timeout,stored-texts,times,transactions}.db-spec.ts',
  'test/cli/{app-revoke-all,grants,token-revoke}.e2e-spec.ts',
];

const inQuick = (quick: EngineSelection): EngineSelection => (IS_QUICK ? quick : 'all');

const IN_BROWSER = 'test/system/browser/*.browser-spec.ts';

/** `npm run test:system`. Without `--quick`, it repeats the rules on the engines that `npm test` left out. */
const system = [
  {
    test: {
      ...COMMON,
      ...BUILT,
      name: 'system',
      include: ['test/system/**/*-spec.ts'],
      provide: { ...COMMON.provide, selection: inQuick('SQLite and last server') },
      // Races are only worth their time with many repetitions. Code generators, JavaScript libraries and runtimes are large downloads. The
      // package of the client and changes of the document are checked by other tools, which start slowly. Memory and faults of the
      // trace collector rarely change. The recipe for a language compiles everything twice. Each command of the operator's pages is
      // a process.
      exclude: [
        'test/system/node_modules/**',
        IN_BROWSER,
        ...(IS_QUICK
          ? [
              'test/system/{races,load,generators,openapi}/**',
              'test/system/libraries/{javascript,protecting}.e2e-spec.ts',
              'test/system/clients/{typescript-package,swagger-ui,repeats,runtimes,languages/languages}.e2e-spec.ts',
              'test/system/docs/{add-language,move,operate}.e2e-spec.ts',
              'test/system/mcp/tools-from-document.e2e-spec.ts',
              'test/system/processes/{clocks,garbage-collection,tracing-faults,pooled-connections}.e2e-spec.ts',
              'test/system/processes/{erasure-during-requests,concurrent-commands}.e2e-spec.ts',
              'test/system/database/{in-doubt-commits,interrupted-sign-in}.e2e-spec.ts',
            ]
          : []),
      ],
    },
  },
  {
    test: {
      ...COMMON,
      ...BUILT,
      name: 'browser',
      include: [IN_BROWSER],
      // The pages are measured at 375 and 1280 px in the quick run, too; zoomed, with long names, on paper, in other browsers
      // and without a click only in the whole one.
      exclude: IS_QUICK
        ? [
            'test/system/browser/{zoom,long-names,print,engines,text-browsers,repeats,prefetch}.browser-spec.ts',
          ]
        : [],
      // A busy machine can make Chromium miss a time limit. The summary names tests that passed only at the second attempt.
      retry: process.env.CI === 'true' ? 1 : 0,
    },
  },
  {
    test: {
      ...COMMON,
      ...BUILT,
      name: 'databases',
      include: ON_EVERY_SERVER,
      provide: { ...COMMON.provide, selection: inQuick('not in npm test') },
    },
  },
  ...(IS_QUICK ? [] : [1, 2]).map((engineShift) => ({
    test: {
      ...COMMON,
      ...BUILT,
      name: `rules on another engine (${engineShift})`,
      include: RULES,
      exclude: [...NOT_RULES, ...ON_EVERY_SERVER, 'test/{contract,docs,reliability}/**'],
      provide: { ...COMMON.provide, engineShift },
    },
  })),
];

/** Fault tests that compare durations run alone, after the others. */
const ALONE = (IS_QUICK ? ['thousand-callers'] : ['slow-bodies', 'thousand-callers']).map(
  (name) => `test/faults/overload/${name}.e2e-spec.ts`,
);

/** `npm run test:faults`. */
const faults = [
  {
    test: {
      ...COMMON,
      ...BUILT,
      name: 'faults',
      include: ['test/faults/**/*-spec.ts'],
      exclude: ALONE,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      ...COMMON,
      ...BUILT,
      name: 'faults that compare durations',
      include: ALONE,
      maxWorkers: 1,
      sequence: { groupOrder: 1 },
    },
  },
];

/** `npm run measure:prune`. */
const measure = [
  { test: { ...COMMON, ...BUILT, name: 'measure', include: ['test/system/measure/*.measure.ts'] } },
];

export default defineConfig(({ mode }) => ({
  resolve: { alias: SQLITE_DRIVER },
  test: {
    projects: { rules: rules({ isWatching: mode === 'watch' }), system, faults, measure }[SUITE],
    sequence: { sequencer: LongestFirst },
    globalSetup: ['./test/support/global-setup.ts'],
    reporters: [
      'default',
      new SummaryReporter(),
      ...(SUITE === 'faults' ? [new FiguresReporter()] : []),
    ],
    allowOnly: process.env.CI !== 'true',
  },
}));
