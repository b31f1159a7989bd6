import { defineConfig } from 'rolldown';

/*
 * Joins what the two programs consist of, which the compiler has left in dist/src, and the packages that they use to a few files
 * (decision 0020): a process that reads thousands of small ones takes twice as long to start.
 */
export default defineConfig({
  input: { main: 'dist/src/main.js', cli: 'dist/src/cli.js' },
  platform: 'node',
  preserveEntrySignatures: false,
  logLevel: 'warn',
  checks: {
    // Nest asks for packages that it does without where they are not installed.
    unresolvedImport: false,
    // A command that the service never runs imports late what the service imports at once.
    ineffectiveDynamicImport: false,
  },
  // They find files beside their own, a compiled addon and what a browser loads, and are only ever required while the service runs.
  external: ['better-sqlite3', 'swagger-ui-dist'],
  plugins: [
    {
      name: 'one-typeorm',
      load: {
        // Requires TypeORM once more, from its own files, for two classes that this version of it does not have.
        filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
        handler: () => 'export const Connection = undefined, AbstractRepository = undefined;',
      },
    },
  ],
  output: {
    // As far below dist as src/platform is, for programFile.
    dir: 'dist/src/bundle',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        { name: 'platform', test: /dist\/src/ },
        // What V8 takes to read a file is not given back, and grows with the largest.
        { name: 'packages', test: /node_modules/, maxSize: 1_000_000 },
      ],
      includeDependenciesRecursively: false,
    },
    // As written, where polyfills and settings come before what they are for.
    strictExecutionOrder: true,
    // A class is called by its name in documents and logs, also where two files have one of that name.
    keepNames: true,
    // V8 keeps the text of a file, of two bytes for each character where one needs them.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  },
});
