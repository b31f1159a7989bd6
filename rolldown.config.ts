import { defineConfig, type RolldownOptions } from 'rolldown';

/*
 * Joins each program, which the compiler has left in dist/src, with all that it uses to one file (decision 0020): a process that
 * reads thousands of small files takes twice as long to start.
 */
export default defineConfig([program('main'), program('cli')]);

function program(name: string): RolldownOptions {
  return {
    input: `dist/src/${name}.js`,
    platform: 'node',
    logLevel: 'warn',
    checks: {
      // Nest asks for packages that it does without where they are not installed.
      unresolvedImport: false,
    },
    // They find files beside their own: a compiled addon, and what a browser loads.
    external: ['better-sqlite3', 'swagger-ui-dist'],
    output: {
      // As far below dist as src/common is, for programFile.
      file: `dist/src/bundle/${name}.js`,
      codeSplitting: false,
      // A class is called by its name in documents and logs, also where two files have one of that name.
      keepNames: true,
      // As written, where polyfills and settings come before what they are for.
      strictExecutionOrder: true,
    },
  };
}
