import { Injectable, Logger } from '@nestjs/common';
import { MINUTE, SECOND } from '../../../platform/clock.js';
import { BackgroundWriter } from '../../../platform/database/background-writer.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { GrantsRepository } from './grants.repository.js';

const MAX_GRANTS = 10_000;
const BATCH = 500;

/** Records the last use of grants in the background, at most once a minute for each. */
@Injectable()
export class GrantUse extends BackgroundWriter {
  private readonly logger = new Logger(GrantUse.name);
  /** The last use of each grant that is not written yet. */
  private waiting = new Map<string, Date>();
  /** The uses that were written within the last minute, oldest first. */
  private readonly written = new Map<string, Date>();

  constructor(
    private readonly grants: GrantsRepository,
    private readonly transactions: TransactionRunner,
  ) {
    super();
  }

  /** Records a use, unless too many wait because the database is unavailable. */
  note(grantId: string, at: Date): void {
    if (isWithinMinute(this.written.get(grantId), at)) return;
    if (this.waiting.has(grantId) || this.waiting.size < MAX_GRANTS) this.waiting.set(grantId, at);
  }

  protected override async writeWaiting(): Promise<void> {
    const uses = bySecond(this.waiting);
    this.waiting = new Map();
    for (const { grantIds, at } of uses) {
      try {
        await this.write(grantIds, at);
      } catch (error) {
        this.logger.error(
          `The last use of ${grantIds.length} grants could not be written yet.`,
          (error as Error).stack,
        );
        for (const id of grantIds) if (!this.waiting.has(id)) this.waiting.set(id, at);
      }
    }
  }

  /** All transactions lock grants in the order of their ids, so there are no deadlocks. */
  private async write(grantIds: readonly string[], at: Date): Promise<void> {
    const sorted = grantIds.toSorted();
    for (let start = 0; start < sorted.length; start += BATCH) {
      const batch = sorted.slice(start, start + BATCH);
      await this.transactions.run((tx) => this.grants.noteUse(tx, batch, at));
    }
    for (const [id, before] of this.written) {
      if (isWithinMinute(before, at) && this.written.size < MAX_GRANTS) break;
      this.written.delete(id);
    }
    for (const id of sorted) {
      this.written.delete(id);
      this.written.set(id, at);
    }
  }
}

/** Groups the uses of one second, with the latest time of each: a statement for each group. */
function bySecond(uses: ReadonlyMap<string, Date>): Iterable<{ grantIds: string[]; at: Date }> {
  const groups = new Map<number, { grantIds: string[]; at: Date }>();
  for (const [id, at] of uses) {
    const second = Math.floor(at.getTime() / SECOND);
    const group = groups.get(second) ?? { grantIds: [], at };
    groups.set(second, group);
    group.grantIds.push(id);
    if (at > group.at) group.at = at;
  }
  return groups.values();
}

function isWithinMinute(earlier: Date | undefined, now: Date): boolean {
  return earlier !== undefined && now.getTime() - earlier.getTime() < MINUTE;
}
