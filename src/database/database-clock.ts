import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The clock of the database server. Nothing is stored by it; it is there to be compared with. */
@Injectable()
export class DatabaseClock {
  constructor(private readonly dataSource: DataSource) {}

  /** To the millisecond; null on SQLite, which has the clock of the process. */
  async now(): Promise<Date | null> {
    if (this.dataSource.options.type === 'better-sqlite3') return null;
    const [row]: { now: Date }[] = await this.dataSource.query('SELECT UTC_TIMESTAMP(3) AS now');
    return row?.now ?? null;
  }
}
