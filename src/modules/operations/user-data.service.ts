import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { AuditPersonalData } from '../../platform/audit/audit.data-subject.js';
import { Clock, SECOND } from '../../platform/clock.js';
import {
  type BatchSettings,
  sumByTable,
  deleteInBatches,
  type RowsByTable,
  totalOf,
} from '../../platform/database/retention/batches.js';
import type {
  Person,
  PersonalData,
  PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import type { DeletableRows } from '../../platform/database/retention/deletion-queries.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { IdempotencyPersonalData } from '../../platform/http/idempotency/idempotency.data-subject.js';
import { CommentsPersonalData } from '../comments/comments.data-subject.js';
import { SignInPersonalData } from '../oauth/oauth.data-subject.js';
import { GrantsPersonalData } from '../oauth/tokens/grants.data-subject.js';
import { UserAccess } from '../oauth/account/user-access.service.js';
import { PostsPersonalData } from '../posts/posts.data-subject.js';
import { CallsPersonalData } from '../quota/calls/calls.data-subject.js';
import { UsersPersonalData } from '../users/users.data-subject.js';
import { UsersService } from '../users/users.service.js';

/** The personal data of all modules. */
@Injectable()
export class AllPersonalData {
  private readonly parts: readonly PersonalData[];

  constructor(
    private readonly users: UsersPersonalData,
    posts: PostsPersonalData,
    comments: CommentsPersonalData,
    grants: GrantsPersonalData,
    signIn: SignInPersonalData,
    idempotency: IdempotencyPersonalData,
    calls: CallsPersonalData,
    audit: AuditPersonalData,
  ) {
    // Comments before posts, because they are found through their post.
    this.parts = [comments, posts, grants, signIn, idempotency, calls, audit];
  }

  rowsToExport(person: Person): PersonalRows[] {
    return [this.users, ...this.parts].flatMap((part) => part.rowsToExport(person));
  }

  /** In the order of deletion. Without the row of the user, which `userRow` returns, because it is deleted last. */
  rowsToErase(person: Person): DeletableRows[] {
    return this.parts.flatMap((part) => part.rowsToErase(person));
  }

  userRow(person: Person): DeletableRows[] {
    return this.users.rowsToErase(person);
  }
}

/** Characters. */
const CHUNK_SIZE = 65_536;

@Injectable()
export class UserExport {
  constructor(
    private readonly personalData: AllPersonalData,
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
    private readonly personalData: AllPersonalData,
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
    const person = await this.personOf(userId);
    const rows = [...this.personalData.rowsToErase(person), ...this.personalData.userRow(person)];
    return sumByTable(rows, (part) => part.count());
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
    const counts = await sumByTable(this.personalData.rowsToErase(person), (rows) =>
      deleteInBatches(this.transactions, rows, { onBatch }),
    );
    await this.finish(person, change, counts);
    return counts;
  }

  /** Deletes the row of the user, writes the audit event, and adds the row to `counts`. */
  private async finish(person: Person, change: Change, counts: RowsByTable): Promise<void> {
    for (const row of this.personalData.userRow(person)) {
      const keys = await row.keys(1);
      await this.transactions.run(async (tx) => {
        counts[row.table] = keys.length > 0 ? await row.delete(tx, keys) : 0;
        if (totalOf(counts) > 0)
          await this.audit.record(tx, 'user.erased', person.userId, change, counts);
      });
    }
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
