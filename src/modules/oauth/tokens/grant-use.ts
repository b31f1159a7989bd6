import { Injectable, Logger } from '@nestjs/common';
import { MINUTE, SECOND } from '../../../platform/clock.js';
import { BackgroundWriter } from '../../../platform/database/background-writer.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { GrantsRepository } from './grants.repository.js';

const MOST_KEPT = 10_000;
const BATCH = 500;

/**
 * Notes when apps last used their access, to the minute. What was used waits in memory and is written beside the requests,
 * for each grant at most once a minute.
 */
@Injectable()
export class GrantUse extends BackgroundWriter {
  private readonly logger = new Logger(GrantUse.name);
  /** The newest use of each grant that is to be written. */
  private waiting = new Map<string, Date>();
  /** What was written less than a minute ago, oldest first: it need not be written again. */
  private readonly written = new Map<string, Date>();

  constructor(
    private readonly grants: GrantsRepository,
    private readonly transactions: TransactionRunner,
  ) {
    super();
  }

  /** A grant was used. When too many wait, because the database is away for long, this use is forgotten. */
  note(grantId: string, at: Date): void {
    if (isWithinMinute(this.written.get(grantId), at)) return;
    if (this.waiting.has(grantId) || this.waiting.size < MOST_KEPT) this.waiting.set(grantId, at);
  }

  protected override async writeWaiting(): Promise<void> {
    const taken = this.waiting;
    this.waiting = new Map();
    for (const { grantIds, at } of bySecond(taken)) {
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

  /** Everybody locks grants in the order of their ids, so that nobody waits for somebody who waits for them. */
  private async write(grantIds: readonly string[], at: Date): Promise<void> {
    const inOrder = grantIds.toSorted();
    for (let start = 0; start < inOrder.length; start += BATCH) {
      const batch = inOrder.slice(start, start + BATCH);
      await this.transactions.run((tx) => this.grants.noteUse(tx, batch, at));
    }
    this.remember(inOrder, at);
  }

  private remember(grantIds: readonly string[], at: Date): void {
    for (const [id, before] of this.written) {
      if (isWithinMinute(before, at) && this.written.size < MOST_KEPT) break;
      this.written.delete(id);
    }
    for (const id of grantIds) {
      this.written.delete(id);
      this.written.set(id, at);
    }
  }
}

interface Use {
  grantIds: string[];
  at: Date;
}

/** Those of one second together, at the newest moment of them, to be written in one statement. */
function bySecond(uses: ReadonlyMap<string, Date>): Use[] {
  const seconds = new Map<number, Use>();
  for (const [id, at] of uses) {
    const second = Math.floor(at.getTime() / SECOND);
    const use = seconds.get(second);
    if (!use) seconds.set(second, { grantIds: [id], at });
    else {
      use.grantIds.push(id);
      if (at > use.at) use.at = at;
    }
  }
  return [...seconds.values()];
}

function isWithinMinute(earlier: Date | undefined, now: Date): boolean {
  return earlier !== undefined && now.getTime() - earlier.getTime() < MINUTE;
}
