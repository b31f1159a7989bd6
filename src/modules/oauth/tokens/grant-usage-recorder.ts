import { Injectable, Logger } from '@nestjs/common';
import { MINUTE, SECOND } from '../../../platform/clock.js';
import { BackgroundWriter } from '../../../platform/database/background-writer.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { GrantsRepository } from './grants.repository.js';

/** Limits memory. Not exact: the maps may exceed it by the grants of failed writes (`pending`) or of the last write (`written`). */
const MAX_GRANTS = 10_000;
/** Grants per statement. */
const BATCH_SIZE = 500;

/** Records the last use of each grant in the background, at most once a minute per grant. */
@Injectable()
export class GrantUsageRecorder extends BackgroundWriter {
  private readonly logger = new Logger(GrantUsageRecorder.name);
  /** Grant id to last use, not written yet. */
  private pending = new Map<string, Date>();
  /** Grant id to last use, written within the last minute, oldest first. */
  private readonly written = new Map<string, Date>();

  constructor(
    private readonly grants: GrantsRepository,
    private readonly transactions: TransactionRunner,
  ) {
    super();
  }

  /** Drops the use when too many are pending, for example while the database is unavailable. */
  record(grantId: string, at: Date): void {
    if (isWithinMinute(this.written.get(grantId), at)) return;
    if (this.pending.has(grantId) || this.pending.size < MAX_GRANTS) this.pending.set(grantId, at);
  }

  protected override async writeWaiting(): Promise<void> {
    const uses = bySecond(this.pending);
    this.pending = new Map();
    for (const { grantIds, at } of uses) {
      try {
        await this.write(grantIds, at);
      } catch (error) {
        this.logger.error(
          `Could not write the last use of ${grantIds.length} grants. The next write retries.`,
          (error as Error).stack,
        );
        for (const id of grantIds) if (!this.pending.has(id)) this.pending.set(id, at);
      }
    }
  }

  /** Sorts by id, because all transactions lock grants in this order, which avoids deadlocks. */
  private async write(grantIds: readonly string[], at: Date): Promise<void> {
    const sorted = grantIds.toSorted();
    for (let start = 0; start < sorted.length; start += BATCH_SIZE) {
      const batch = sorted.slice(start, start + BATCH_SIZE);
      await this.transactions.run((tx) => this.grants.recordUse(tx, batch, at));
    }
    for (const [id, usedAt] of this.written) {
      if (isWithinMinute(usedAt, at) && this.written.size < MAX_GRANTS) break;
      this.written.delete(id);
    }
    for (const id of sorted) {
      this.written.delete(id);
      this.written.set(id, at);
    }
  }
}

/** Groups uses by second, each group with its latest time, so that one statement writes a group. */
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
