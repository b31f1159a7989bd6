import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSql } from './sql.js';

/** Database storage of limited size. */
export interface Fillable {
  /** Uses all free space. */
  fill(): Promise<void>;
  /** Releases the space that `fill` used. */
  free(): Promise<void>;
}

/** A small tmpfs, which only root can mount. */
export class SmallDisk implements Fillable {
  private constructor(readonly folder: string) {}

  /** Returns undefined where mounting is not permitted. */
  static mount(megabytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'platform-disk-'));
    try {
      const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder];
      execFileSync('mount', options, { stdio: 'ignore' });
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
    return new SmallDisk(folder);
  }

  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    const file = await open(this.filler, 'w');
    await file.write(Buffer.alloc(bavail * bsize));
    await file.close();
  }

  async free(): Promise<void> {
    await rm(this.filler);
  }

  unmount(): void {
    execFileSync('umount', [this.folder]);
    rmSync(this.folder, { recursive: true });
  }

  private get filler(): string {
    return join(this.folder, 'filler');
  }
}

/** Options with which MySQL stores all tables in one file of limited size. */
export const SMALL_TABLESPACE: readonly string[] = [
  '--innodb-file-per-table=OFF',
  '--innodb-data-file-path=ibdata1:12M:autoextend:max:64M',
];

const TABLE_FULL = 'ER_RECORD_FILE_FULL';
/** Row sizes in bytes, tried in this order. Smaller rows fill the space that larger ones leave. */
const ROW_SIZES = [1_000_000, 100_000, 8000];

/** The tablespace of a server with `SMALL_TABLESPACE`. */
export class SmallTablespace implements Fillable {
  constructor(private readonly serverUrl: string) {}

  async fill(): Promise<void> {
    await runSql(this.serverUrl, 'CREATE DATABASE filler');
    await runSql(this.serverUrl, 'CREATE TABLE filler.filler (filling LONGBLOB)');
    for (const size of ROW_SIZES) while (await this.tryInsert(size));
  }

  async free(): Promise<void> {
    await runSql(this.serverUrl, 'DROP DATABASE filler');
  }

  private async tryInsert(size: number): Promise<boolean> {
    try {
      await runSql(this.serverUrl, `INSERT INTO filler.filler VALUES (REPEAT('x', ${size}))`);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code === TABLE_FULL) return false;
      throw error;
    }
  }
}
