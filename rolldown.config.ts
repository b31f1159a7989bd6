import { defineConfig } from 'rolldown';

/*
 * Bundles the two programs and their packages into a few files, because opening thousands of files doubles the start time
 * (decision 0020).
 */
export default defineConfig({
  input: { main: 'dist/src/main.js', cli: 'dist/src/cli.js' },
  platform: 'node',
  preserveEntrySignatures: false,
  logLevel: 'warn',
  checks: {
    // Nest imports optional packages.
    unresolvedImport: false,
    // Commands import some modules lazily that the service imports statically.
    ineffectiveDynamicImport: false,
  },
  // These packages load files from their own folders: a compiled addon, and the assets of Swagger UI.
  external: ['better-sqlite3', 'better-sqlite3-13', 'swagger-ui-dist'],
  plugins: [
    {
      name: 'one-typeorm',
      load: {
        // This file of `@nestjs/typeorm` would load a second TypeORM, for two classes that TypeORM 1 does not have.
        filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
        handler: () => 'export const Connection = undefined, AbstractRepository = undefined;',
      },
    },
  ],
  output: {
    // At the same depth as dist/src/platform, because `assetUrl` resolves paths relative to its own file.
    dir: 'dist/src/bundle',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        { name: 'platform', test: /dist\/src/ },
        // V8 keeps memory in proportion to the largest file.
        { name: 'packages', test: /node_modules/, maxSize: 1_000_000 },
      ],
      includeDependenciesRecursively: false,
    },
    // Polyfills and V8 flags must run before the other imports.
    strictExecutionOrder: true,
    // Class names appear in the OpenAPI document and in logs.
    keepNames: true,
    // One character outside Latin-1 doubles the memory for the source of its file.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  },
});
