import type { DataSource } from 'typeorm';

/**
 * How long SQLite waits while another process has locked the file. It keeps the whole process waiting, so whoever does so in vain
 * does it for all who come until the file is free.
 */
export class FileLockWait {
  private wasVain = false;

  /** @param waitMs milliseconds */
  constructor(
    private readonly dataSource: DataSource,
    private readonly waitMs: number,
  ) {}

  /** To be told whether a unit of work waited in vain, or was done. */
  async note(isVain: boolean): Promise<void> {
    if (isVain === this.wasVain) return;
    this.wasVain = isVain;
    await this.dataSource.query(`PRAGMA busy_timeout = ${isVain ? 0 : this.waitMs}`);
  }
}
