import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { inject } from 'vitest';
import { urlOfEachServer } from '../../src/config/database-servers.js';
import type { Engine } from './provided.js';
import { runSql } from './sql.js';

/** Makes a migrated database on the server of an engine, whose schema others copy. Answers its name. */
export async function makeTemplate({ serverUrl = '' }: Engine): Promise<string> {
  const name = `platform_test_template_${randomBytes(6).toString('hex')}`;
  await runSql(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await promisify(execFile)(process.execPath, ['dist/src/bundle/cli.js', 'db', 'migrate'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'test', DATABASE_URL: url.href },
  });
  await runSql(serverUrl, `DELETE FROM ${name}.audit_events`);
  return name;
}

export async function dropTemplate({ serverUrl = '', template }: Engine): Promise<void> {
  if (template !== undefined) await runSql(serverUrl, `DROP DATABASE IF EXISTS ${template}`);
}

/** Gives an empty database of a server the schema of its template, which takes a fraction of the time of migrating. */
export async function copySchema(url: string): Promise<void> {
  const { host, pathname } = new URL(urlOfEachServer(url)[0] ?? url);
  const engine = inject('engines').find(
    ({ serverUrl }) => serverUrl !== undefined && new URL(serverUrl).host === host,
  );
  if (engine?.template === undefined) return;
  const { template } = engine;
  const connection = await mysql.createConnection({ uri: url });
  const rows = async (sql: string): Promise<string[]> => {
    const [found] = await connection.query<RowDataPacket[]>(sql);
    return found.flatMap((row) => Object.values(row) as string[]);
  };
  try {
    if ((await rows('SHOW TABLES')).length > 0) return;
    const [charset, collation] = await rows(
      `SELECT default_character_set_name, default_collation_name FROM information_schema.schemata WHERE schema_name = '${template}'`,
    );
    await connection.query(
      `ALTER DATABASE ${pathname.slice(1)} CHARACTER SET ${charset} COLLATE ${collation}`,
    );
    for (const table of await rows(`SHOW TABLES FROM ${template}`))
      await connection.query(`CREATE TABLE ${table} LIKE ${template}.${table}`);
    await connection.query(`INSERT INTO migrations SELECT * FROM ${template}.migrations`);
  } finally {
    await connection.end();
  }
}
