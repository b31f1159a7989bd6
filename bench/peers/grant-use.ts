import type { Pool } from 'mysql2';

const MINUTE_MS = 60_000;

/** Notes when grants were last used, to the minute, beside the requests, as the service does. */
export class GrantUse {
  private waiting = new Set<string>();
  private readonly noted = new Map<string, number>();

  constructor(private readonly pool: Pool) {
    setInterval(() => this.flush(), 1000).unref();
  }

  note(grantId: string, at: Date): void {
    if (at.getTime() - (this.noted.get(grantId) ?? 0) >= MINUTE_MS) this.waiting.add(grantId);
  }

  private flush(): void {
    if (this.waiting.size === 0) return;
    const now = new Date();
    const grantIds = [...this.waiting].toSorted();
    this.waiting = new Set();
    for (const grantId of grantIds) this.noted.set(grantId, now.getTime());
    const update = 'UPDATE grants SET last_used_at = ? WHERE id IN (?)';
    this.pool.query(update, [now, grantIds], (error) => {
      if (error) process.stderr.write(`${error.message}\n`);
    });
  }
}
