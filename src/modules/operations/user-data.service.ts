import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock, SECOND } from '../../platform/clock.js';
import {
  type BatchSettings,
  countRows,
  deleteRows,
  type RowsByTable,
} from '../../platform/database/deletable-rows.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { UserAccess } from '../oauth/account/user-access.service.js';
import { UsersService } from '../users/users.service.js';
import { type Person, PersonalData } from './personal-data.js';

/** Characters. */
const CHUNK_SIZE = 65_536;

@Injectable()
export class UserExport {
  constructor(
    private readonly personalData: PersonalData,
    private readonly users: UsersService,
    private readonly clock: Clock,
  ) {}

  /** One JSON document in chunks. Each table is a property, each row a line. @throws UnknownUser */
  async document(userId: string): Promise<AsyncIterable<string>> {
    const phone = await this.users.phoneOf(userId);
    return inChunks(this.lines({ userId, phone }));
  }

  private async *lines(person: Person): AsyncGenerator<string> {
    const head = { user_id: person.userId, exported_at: this.clock.now() };
    yield JSON.stringify(head).slice(0, -1);
    for (const { table, rows } of this.personalData.rowsToExport(person)) {
      yield `,\n${JSON.stringify(table)}: [`;
      let separator = '\n  ';
      for await (const row of rows) {
        yield separator + JSON.stringify(row);
        separator = ',\n  ';
      }
      yield ']';
    }
    yield '}\n';
  }
}

async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_SIZE) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Longer than a call waits in the queue of the call log. */
const CALL_LOG_DELAY_MS = 2 * SECOND;

interface ErasureSettings extends Pick<BatchSettings, 'onBatch'> {
  change: Change;
}

@Injectable()
export class UserErasure {
  constructor(
    private readonly personalData: PersonalData,
    private readonly access: UserAccess,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /** Returns the user's name, or the id of an erased user. @throws UnknownUser */
  async nameOf(userId: string): Promise<string> {
    return (await this.wasErased(userId)) ? userId : (await this.users.get(userId)).name;
  }

  /** Counts the rows that would be deleted. @throws UnknownUser */
  async preview(userId: string): Promise<RowsByTable> {
    return countRows(this.personalData.rowsToErase(await this.personOf(userId)));
  }

  /**
   * Blocks the user first, so that later requests add no rows. Then deletes in batches, the row of the user last. An interrupted
   * erasure can be repeated, also concurrently.
   * @returns the number of deleted rows by table; for an erased user, those added after the erasure
   * @throws UnknownUser
   */
  async run(userId: string, { change, onBatch }: ErasureSettings): Promise<RowsByTable> {
    const person = await this.personOf(userId);
    if (!(await this.wasErased(userId))) {
      await this.access.end(userId, change, async (tx) => {
        await this.users.changeStatusInTransaction(tx, userId, 'blocked', change);
      });
      await sleep(CALL_LOG_DELAY_MS);
    }
    const rows = this.personalData.rowsToErase(person);
    const counts = await deleteRows(this.transactions, rows.slice(0, -1), { onBatch });
    for (const user of rows.slice(-1)) {
      const { value: remove } = await user.batches().next();
      await this.transactions.run(async (tx) => {
        counts[user.table] = remove ? await remove(tx) : 0;
        if (Object.values(counts).some((count) => count > 0))
          await this.audit.record(tx, 'user.erased', userId, change, counts);
      });
    }
    return counts;
  }

  /** Also for an erased user, because requests during the erasure may have added rows. @throws UnknownUser */
  private async personOf(userId: string): Promise<Person> {
    return {
      userId,
      phone: (await this.wasErased(userId)) ? null : await this.users.phoneOf(userId),
    };
  }

  private wasErased(userId: string): Promise<boolean> {
    return this.audit.hasEvent('user.erased', userId);
  }
}
