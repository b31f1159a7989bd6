import type { Pool } from 'mysql2';

const MINUTE_MS = 60_000;

/** Stores the last use of grants in the background, at most once a minute for each grant, as the service does. */
export class GrantUse {
  private pending = new Set<string>();
  /** Time of the last update of each grant, in milliseconds since 1970. */
  private readonly updatedAt = new Map<string, number>();

  constructor(private readonly pool: Pool) {
    setInterval(() => this.flush(), 1000).unref();
  }

  markUsed(grantId: string, at: Date): void {
    if (at.getTime() - (this.updatedAt.get(grantId) ?? 0) >= MINUTE_MS) this.pending.add(grantId);
  }

  private flush(): void {
    if (this.pending.size === 0) return;
    const now = new Date();
    const grantIds = [...this.pending].toSorted();
    this.pending = new Set();
    for (const grantId of grantIds) this.updatedAt.set(grantId, now.getTime());
    const update = 'UPDATE grants SET last_used_at = ? WHERE id IN (?)';
    this.pool.query(update, [now, grantIds], (error) => {
      if (error) process.stderr.write(`${error.message}\n`);
    });
  }
}
