import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { sha256 } from '../../src/common/secrets.js';
import type { TestDatabase } from './engines.js';

const AT_ONCE = 500;

/** Inserts so many rows, each made of its number and a hash of its own. */
export async function insertMany<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  count: number,
  row: (number: number, hash: string) => ObjectLiteral,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) => row(number, sha256(String(number))));
  for (let from = 0; from < count; from += AT_ONCE)
    await dataSource.manager.insert(entity, rows.slice(from, from + AT_ONCE) as T[]);
}

/** Lets the engine see what its tables hold, as it does by itself in time. */
export async function analyzeTables(
  { engine }: TestDatabase,
  dataSource: DataSource,
): Promise<void> {
  const analyze = engine.kind === 'sqlite' ? 'ANALYZE' : 'ANALYZE TABLE';
  for (const { tableName } of dataSource.entityMetadatas)
    await dataSource.query(`${analyze} ${tableName}`);
}
