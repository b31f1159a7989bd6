import type { Fillable } from './small-disk.js';
import { runSql } from './sql.js';

/** With these a MySQL server keeps all tables in one file, and refuses to let it grow beyond this, as on a full disk. */
export const SMALL_TABLESPACE: readonly string[] = [
  '--innodb-file-per-table=OFF',
  '--innodb-data-file-path=ibdata1:12M:autoextend:max:64M',
];

const FULL = 'ER_RECORD_FILE_FULL';
/** In bytes: what is left by the large is taken by the small. */
const ROWS = [1_000_000, 100_000, 8000];

/** The tables of a server that has little room for them. */
export class SmallTablespace implements Fillable {
  constructor(private readonly serverUrl: string) {}

  async fill(): Promise<void> {
    await runSql(this.serverUrl, 'CREATE DATABASE filler');
    await runSql(this.serverUrl, 'CREATE TABLE filler.filler (filling LONGBLOB)');
    for (const size of ROWS) while (await this.takes(size));
  }

  async free(): Promise<void> {
    await runSql(this.serverUrl, 'DROP DATABASE filler');
  }

  private async takes(size: number): Promise<boolean> {
    try {
      await runSql(this.serverUrl, `INSERT INTO filler.filler VALUES (REPEAT('x', ${size}))`);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code === FULL) return false;
      throw error;
    }
  }
}
