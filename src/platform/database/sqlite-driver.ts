import { createRequire } from 'node:module';

/**
 * The SQLite driver for this version of Node: `better-sqlite3` 13 needs Node 22, and 12 aborts the process on Node 24.19 and later,
 * when a database or statement is garbage-collected. Without Node 20, only 13 is needed (decision 0023).
 */
export function sqliteDriver(): typeof import('better-sqlite3') {
  const [major] = process.versions.node.split('.');
  const name = Number(major) < 22 ? 'better-sqlite3' : 'better-sqlite3-13';
  return createRequire(import.meta.url)(name) as typeof import('better-sqlite3');
}
