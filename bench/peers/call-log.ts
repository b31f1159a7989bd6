import type { Pool } from 'mysql2';
import { newId } from '../../src/platform/ids.js';
import { INSERT_CALLS } from './statements.js';

const BATCH = 500;

export interface Call {
  at: Date;
  clientId: string;
  userId: string;
  route: string;
  status: number;
  durationMs: number;
  requestId: string;
}

/** A 201 of this route is recorded in the transaction that publishes the post. */
export const PUBLISH_ROUTE = 'POST /dev/v1/posts';

/** A row of the call log. `countsAgainstQuota` is the value of the column `metered`. */
export function callRow(
  call: Call,
  { countsAgainstQuota }: { countsAgainstQuota: boolean },
): (string | number | boolean | Date)[] {
  const { at, clientId, userId, route, status, durationMs, requestId } = call;
  const id = newId('call', at);
  return [at, id, clientId, userId, route, status, durationMs, requestId, countsAgainstQuota];
}

/** Records all calls but successful publishes in batches every second, as the service does. */
export class CallLog {
  private pending: unknown[][] = [];

  constructor(private readonly pool: Pool) {
    setInterval(() => this.flush(), 1000).unref();
  }

  record(call: Call): void {
    if (call.route === PUBLISH_ROUTE && call.status === 201) return;
    this.pending.push(callRow(call, { countsAgainstQuota: false }));
  }

  private flush(): void {
    const { pending } = this;
    this.pending = [];
    for (let from = 0; from < pending.length; from += BATCH)
      this.pool.query(INSERT_CALLS, [pending.slice(from, from + BATCH)], (error) => {
        if (error) process.stderr.write(`${error.message}\n`);
      });
  }
}
