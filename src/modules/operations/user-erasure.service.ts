import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { AuditPersonalData } from '../../platform/audit/audit-trail.repository.js';
import { SECOND } from '../../platform/clock.js';
import {
  type BatchSettings,
  countByTable,
  deleteInBatches,
  type RowsByTable,
  totalOf,
} from '../../platform/database/retention/batches.js';
import type {
  Person,
  PersonalData,
  PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import type { ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { IdempotencyPersonalData } from '../../platform/http/idempotency/idempotency-keys.repository.js';
import { CommentsPersonalData } from '../comments/comments.data-subject.js';
import { SignInPersonalData } from '../oauth/oauth.data-subject.js';
import { GrantsPersonalData } from '../oauth/tokens/grants.data-subject.js';
import { UserAccess } from '../oauth/user-access.service.js';
import { PostsPersonalData } from '../posts/posts.data-subject.js';
import { CallsPersonalData } from '../quota/calls/calls.data-subject.js';
import { UsersPersonalData } from '../users/users.data-subject.js';
import { UsersService } from '../users/users.service.js';

/** Everything that the platform keeps about people. */
@Injectable()
export class EverythingPersonal {
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
    // Comments go before the posts that they are found by.
    this.parts = [comments, posts, grants, signIn, idempotency, calls, audit];
  }

  held(person: Person): PersonalRows[] {
    return [this.users, ...this.parts].flatMap((part) => part.held(person));
  }

  /** In the order in which it goes. The person's own row is not among it: it goes last, and tells until then whose the rest is. */
  erased(person: Person): ExpiredRows[] {
    return this.parts.flatMap((part) => part.erased(person));
  }

  /** The person's own row. */
  own(person: Person): ExpiredRows[] {
    return this.users.erased(person);
  }
}

/** Longer than a call waits in the memory of a process before it is in the call log. */
const SETTLE_MS = 2 * SECOND;

interface Settings extends Pick<BatchSettings, 'onBatch'> {
  change: Change;
}

/** Removes a user with everything that tells about them. */
@Injectable()
export class UserErasure {
  constructor(
    private readonly personal: EverythingPersonal,
    private readonly access: UserAccess,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /** The user's name, or the id of one who is gone already. @throws UnknownUser */
  async nameOf(userId: string): Promise<string> {
    const { phone } = await this.personOf(userId);
    return phone === null ? userId : (await this.users.show(userId)).name;
  }

  /** What would go now. @throws UnknownUser */
  async preview(userId: string): Promise<RowsByTable> {
    const person = await this.personOf(userId);
    return countByTable(this.everythingOf(person), (rows) => rows.count());
  }

  /**
   * Shuts the user out first, so that nothing new is made, then removes batch after batch, and the user's own row at last.
   * Safe to stop and to run again, also in two places at once.
   * @returns what went; for a user who is gone already, what had come after
   * @throws UnknownUser
   */
  async run(userId: string, { change, onBatch }: Settings): Promise<RowsByTable> {
    const person = await this.personOf(userId);
    if (person.phone !== null) {
      await this.access.end(userId, change, async (tx) => {
        await this.users.changeStatusIn(tx, userId, 'blocked', change);
      });
      await sleep(SETTLE_MS);
    }
    const counts = await countByTable(this.personal.erased(person), (rows) =>
      deleteInBatches(this.transactions, rows, { onBatch }),
    );
    await this.finish(person, change, counts);
    return counts;
  }

  /** The user's own row goes with the event about it. Adds it to `counts`. */
  private async finish(person: Person, change: Change, counts: RowsByTable): Promise<void> {
    for (const own of this.personal.own(person)) {
      const keys = await own.keys(1);
      await this.transactions.run(async (tx) => {
        counts[own.table] = keys.length > 0 ? await own.delete(tx, keys) : 0;
        if (totalOf(counts) > 0)
          await this.audit.record(tx, 'user.erased', person.userId, change, counts);
      });
    }
  }

  private everythingOf(person: Person): ExpiredRows[] {
    return [...this.personal.erased(person), ...this.personal.own(person)];
  }

  /** Also one who was erased before: what was under way then may have come after. @throws UnknownUser */
  private async personOf(userId: string): Promise<Person> {
    const wasErased = await this.audit.knows('user.erased', userId);
    return { userId, phone: wasErased ? null : await this.users.phoneOf(userId) };
  }
}
