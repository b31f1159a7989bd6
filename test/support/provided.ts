export type EngineKind = 'sqlite' | 'mariadb' | 'mysql';

/** A database engine that this run tests on. */
export interface Engine {
  readonly kind: EngineKind;
  /** Name and version, such as `MariaDB 10.11.19`. */
  readonly label: string;
  /** Where databases may be created and dropped; SQLite has none. */
  readonly serverUrl?: string;
  /** A database on the server that has the schema of this version. */
  readonly template?: string;
}

/** A program that this run may start. */
export interface Program {
  readonly path: string;
  /** Name and version, such as `Chromium 140.0.7339.80`. */
  readonly label: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    engines: Engine[];
    browser: Program | null;
    prometheus: Program | null;
    /** Why there is no current `dist`; null when there is one. */
    buildFailure: string | null;
  }
}
