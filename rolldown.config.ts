import { defineConfig } from 'rolldown';

/** These packages load files from their own folders: a compiled addon, and the assets of Swagger UI. */
const LOADED_FROM_THEIR_FOLDERS = ['better-sqlite3', 'better-sqlite3-13', 'swagger-ui-dist'];

/** The modules that the command line imports before it runs a command. */
const commandLine = new Set<string>();

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
  external: (name, importer) =>
    LOADED_FROM_THEIR_FOLDERS.includes(name) ||
    // Loaded only if tracing is on (decision 0025), except the API of OpenTelemetry, which `prom-client` imports.
    (name.startsWith('@opentelemetry/') && importer?.includes('/prom-client/') !== true),
  plugins: [
    {
      name: 'command-line',
      buildEnd() {
        const add = (id: string): void => {
          if (commandLine.has(id)) return;
          commandLine.add(id);
          this.getModuleInfo(id)?.importedIds.forEach(add);
        };
        for (const id of this.getModuleIds()) if (id.endsWith('/dist/src/cli.js')) add(id);
      },
    },
    {
      name: 'one-typeorm',
      load: {
        // This file of `@nestjs/typeorm` would load a second TypeORM, for two classes that TypeORM 1 does not have.
        filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
        handler: () => 'export const Connection = undefined, AbstractRepository = undefined;',
      },
    },
    {
      name: 'without-development-packages',
      // An optional package of `debug`, which only development packages install.
      resolveId: { filter: { id: /^supports-color$/ }, handler: () => 'no-supports-color' },
      load: { filter: { id: /^no-supports-color$/ }, handler: () => 'export {};' },
    },
  ],
  output: {
    // At the same depth as dist/src/platform, because `assetUrl` resolves paths relative to its own file.
    dir: 'dist/src/bundle',
    entryFileNames: '[name].js',
    // `devplatform` of package.json.
    banner: ({ name }) => (name === 'cli' ? '#!/usr/bin/env node' : ''),
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        // What must run before the other files are compiled.
        { name: 'before', test: /(v8-flags|compile-cache)\.js$/, priority: 2 },
        // Without Nest and TypeORM: help and usage errors need only these.
        { name: 'command-line', test: (id) => commandLine.has(id), priority: 1 },
        { name: 'platform', test: /dist\/src\/(?!main\.js)/ },
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
