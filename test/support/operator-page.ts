import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestDatabase } from './engines.js';
import { findProgram } from './programs.js';
import { runSql } from './sql.js';

/** Changes a line of the page to what it is for the database at hand. */
export type Naming = (line: string) => string;

/** A block of the page that is to be run; `kind` says where: everywhere, or on one kind of database. */
interface Block {
  section: string;
  kind: string;
  lines: string[];
}

const blocks: readonly Block[] = readFileSync('docs/operate.md', 'utf8')
  .split(/^## /m)
  .flatMap((section) =>
    [...section.matchAll(/^ *```sh (run\S*)\n(.*?)^ *```$/gms)].map(
      ([, kind = '', block = '']) => ({
        section: section.split('\n', 1).join(''),
        kind,
        lines: block.trim().split(/\n */),
      }),
    ),
  );

const clients = {
  server: (await findProgram('mysqldump')) && (await findProgram('mysql')),
  sqlite: await findProgram('sqlite3'),
};

export const BACKUP = 'Back up and restore';

export const asWritten: Naming = (line) => line;

/** What a section of docs/operate.md says to run. @throws when it has no blocks of this kind */
export function linesOf(section: string, kind: string): string[] {
  const own = blocks.filter((block) => block.section === section && block.kind === kind);
  if (own.length === 0) throw new Error(`"${section}" has no blocks to "${kind}".`);
  return own.flatMap(({ lines }) => lines);
}

/** Whether the programs are here that the page backs this database up with. */
export function canBackUp({ engine }: TestDatabase): boolean {
  return clients[engine.kind === 'sqlite' ? 'sqlite' : 'server'] !== undefined;
}

/**
 * Backs up and restores as the page says, and answers the `DATABASE_URL` of what was restored.
 * @param folder where the commands are run; it holds none of their files yet
 */
export async function restore(
  { url, engine }: TestDatabase,
  folder: string,
  runBlocks: (kind: string, named: Naming) => Promise<unknown>,
): Promise<string> {
  if (engine.kind === 'sqlite') {
    await symlink(dirname(url.slice('sqlite:'.length)), join(folder, 'data'));
    await runBlocks('run-sqlite', asWritten);
    return `sqlite:${join(folder, 'platform.sqlite')}`;
  }
  const { hostname, port, username, password, pathname } = new URL(url);
  const [original, restored] = [pathname.slice(1), `${pathname.slice(1)}_restored`];
  await writeFile(
    join(folder, 'backup.cnf'),
    `[client]\nhost=${hostname}\nport=${port}\nuser=${username}\npassword="${decodeURIComponent(password)}"\n`,
    { mode: 0o600 },
  );
  await runSql(url, `CREATE DATABASE ${restored} CHARACTER SET latin1`);
  await runBlocks('run-server', (line) =>
    line.replace(/ platform(?= )/, ` ${original}`).replace(/ restored(?= )/, ` ${restored}`),
  );
  return url.replace(original, restored);
}
