import { Injectable } from '@nestjs/common';
import type { Change } from '../../audit/audit-log.repository.js';
import { QuotaReconciliation } from '../../modules/quota/months/quota-reconciliation.service.js';
import { failed, ok, type Check, type Finding } from './check.js';

/** Whether what each app has used this month is what its recorded calls come to. */
@Injectable()
export class QuotaCheck implements Check {
  readonly name = 'quota';

  constructor(private readonly reconciliation: QuotaReconciliation) {}

  async run(repair?: Change): Promise<Finding[]> {
    const differences = await this.reconciliation.differences();
    const apps = differences.length === 1 ? '1 app' : `${differences.length} apps`;
    if (differences.length === 0) return [ok("This month's counters are what is recorded.")];
    if (!repair)
      return [
        failed(
          `This month's counters of ${apps} are not what is recorded.`,
          'npm run -s cli -- quota reconcile',
        ),
      ];
    for (const difference of differences) await this.reconciliation.fix(difference, repair);
    return [ok(`This month's counters of ${apps} were set to what is recorded.`)];
  }
}
