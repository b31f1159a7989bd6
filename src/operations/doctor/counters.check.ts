import { AuditLog, type Change } from '../../audit/audit-log.repository.js';
import type { Drift, KeptCounter } from '../../database/kept-counter.js';
import type { TransactionRunner } from '../../database/transaction.js';
import { failed, ok, type Check, type Finding } from './check.js';

const SHOWN = 3;

/** Whether a counter is the number of rows that it counts; sets each that is not right in a transaction of its own. */
export class CounterCheck implements Check {
  readonly name = 'counters';

  constructor(
    private readonly counter: KeptCounter,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  async run(repair?: Change): Promise<Finding[]> {
    const { name } = this.counter;
    const shown: string[] = [];
    let wrong = 0;
    for await (const found of this.counter.drifts()) {
      const drift = repair ? await this.correct(found.id, repair) : found;
      if (!drift) continue;
      wrong += 1;
      if (shown.length < SHOWN) shown.push(`${drift.id} (${drift.kept}, not ${drift.counted})`);
    }
    if (wrong === 0) return [ok(`${name} is right in every row.`)];
    const rows = `${wrong} ${wrong === 1 ? 'row' : 'rows'}, such as ${shown.join(', ')}`;
    if (repair) return [ok(`${name} is right now. It was wrong in ${rows}.`)];
    return [failed(`${name} is wrong in ${rows}.`, 'npm run -s cli -- doctor --fix')];
  }

  private correct(id: string, change: Change): Promise<Drift | undefined> {
    return this.transactions.run(async (tx) => {
      const drift = await this.counter.correct(tx, id);
      if (drift) {
        const { kept: from, counted: to } = drift;
        const details = { counter: this.counter.name, from, to };
        await this.audit.record(tx, 'counters.fixed', id, change, details);
      }
      return drift;
    });
  }
}
