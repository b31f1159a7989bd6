import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type EntityTarget,
  type FindOptionsWhere,
  In,
  IsNull,
  Not,
  type ObjectLiteral,
} from 'typeorm';
import { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import {
  childRows,
  deletableRows,
  type DeletableRows,
  type BatchSettings,
  countRows,
  deleteRows,
  type RowsByTable,
} from '../../platform/database/deletable-rows.js';
import { rowsInPages } from '../../platform/database/rows-in-pages.js';
import { type Transaction, TransactionRunner } from '../../platform/database/transaction.js';
import { IdempotencyKey } from '../../platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from '../comments/comment.entity.js';
import { WebhookEvent } from '../events/event.entities.js';
import { Authorization } from '../oauth/authorize/authorization.entity.js';
import { App } from '../oauth/clients/client.entities.js';
import { RateLimitHit, TrustedDevice } from '../oauth/rate-limit/rate-limit.entities.js';
import { attemptHashesOf } from '../oauth/sign-in/phone-limits.js';
import {
  failuresKey,
  OtpChallenge,
  OtpFailures,
  SignInSession,
} from '../oauth/sign-in/sign-in.entities.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../oauth/tokens/token.entities.js';
import { Post, PostLike } from '../posts/post.entities.js';
import { ApiCall } from '../quota/quota.entities.js';
import { isTestUser } from '../users/test-members.js';
import { User } from '../users/user.entity.js';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock, SECOND } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { UserAccess } from '../oauth/account/user-access.service.js';
import { UsersService } from '../users/users.service.js';
import { removeComments, removeLikes } from './counted-rows.js';

/** The user whose data is exported or erased. `phone` is in E.164 format; null if the user has none or is already deleted. */
export interface Person {
  userId: string;
  phone: string | null;
}

/** The rows of one table about a person. */
interface PersonalTable {
  /** Undefined if the table is not exported. */
  exported?: ExportedRows;
  /** The rows to delete or to clear. Undefined if no row can be about the person. */
  erased?: DeletableRows;
  /** Tables with rows that belong to these. */
  children: readonly PersonalTable[];
}

/** Rows as objects by column name. */
interface ExportedRows {
  table: string;
  rows: AsyncIterable<object>;
}

/** The columns that are not exported: hashes, other protocol secrets, and the id of the user. `all`: the table is not exported. */
type Omitted<T> = readonly (keyof T & string)[] | 'all';

interface Definition<T> {
  /** Matches by the user or the phone, the first column of an index. Null if no row can match. */
  where: FindOptionsWhere<T> | null;
  omit?: Omitted<T>;
  /** The rows to erase, if not all. */
  erasedWhere?: FindOptionsWhere<T>;
  /** Conditions that together match the same rows, if these read an index in the order of the primary key. */
  pages?: readonly FindOptionsWhere<T>[];
  /** Returns a function for values that the export adds to a row. */
  add?: () => Promise<(row: T) => object>;
  /** Erasure sets this column to null, and keeps the row. */
  clear?: keyof T & string;
  /** Deletes the rows with these primary keys, and updates the counters of their posts. */
  remove?: (tx: Transaction, keys: ObjectLiteral[]) => Promise<number>;
  children?: readonly PersonalTable[];
}

/** Characters. */
const CHUNK_SIZE = 65_536;
/** Longer than a call waits in the queue of the call log. */
export const CALL_LOG_DELAY_MS = 2 * SECOND;
/** A statement can overrun the timeout by this time (`SERVER_GRACE_MS`, and a moment). */
const OVERRUN_MS = 3 * SECOND;

interface ErasureSettings extends Pick<BatchSettings, 'onBatch'> {
  change: Change;
  /** Called before the wait for requests of the user that have begun. */
  onWait: (seconds: number) => void;
}

/** What belongs to a person, its export and its erasure. A test fails for a table with a column for a person that is not listed here. */
@Injectable()
export class PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly access: UserAccess,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Exports one JSON document in chunks. Each table is a property, each row a line. Records an audit event first. @throws UnknownUser */
  async export(userId: string, change: Change): Promise<AsyncIterable<string>> {
    const phone = await this.users.phoneOf(userId);
    await this.transactions.run((tx) => this.audit.record(tx, 'user.exported', userId, change));
    return inChunks(this.lines({ userId, phone }));
  }

  private async *lines(person: Person): AsyncGenerator<string> {
    const head = { user_id: person.userId, exported_at: this.clock.now() };
    yield JSON.stringify(head).slice(0, -1);
    for (const { table, rows } of this.rowsToExport(person)) {
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

  /** Returns the user's name, or the id of an erased user. @throws UnknownUser */
  async nameOf(userId: string): Promise<string> {
    return (await this.wasErased(userId)) ? userId : (await this.users.get(userId)).name;
  }

  /** Counts the rows that would be deleted. @throws UnknownUser */
  async previewErasure(userId: string): Promise<RowsByTable> {
    return countRows(this.rowsToErase(await this.personOf(userId)));
  }

  /**
   * Blocks the user first, so that later requests add no rows. Waits until requests that have begun must have ended, even if their
   * body arrives slowly. Then deletes in batches, the row of the user last. An interrupted erasure can be repeated, also concurrently.
   * @returns the number of deleted rows by table; for an erased user, those added after the erasure
   * @throws UnknownUser
   */
  async erase(userId: string, { change, onWait, onBatch }: ErasureSettings): Promise<RowsByTable> {
    const person = await this.personOf(userId);
    if (!(await this.wasErased(userId))) {
      await this.access.end(userId, change, async (tx) => {
        await this.users.changeStatusInTransaction(tx, userId, 'blocked', change);
      });
      const waitMs = this.longestRequestMs() + OVERRUN_MS + CALL_LOG_DELAY_MS;
      onWait(Math.ceil(waitMs / SECOND));
      await sleep(waitMs);
    }
    const rows = this.rowsToErase(person);
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

  /**
   * For how long a request can run and write after it was authenticated: to receive its body, in queues, and in the database, where a
   * write whose batch failed runs a second time.
   */
  private longestRequestMs(): number {
    const { server, database } = this.config;
    return server.requestTimeoutMs + database.queueTimeoutMs + 2 * database.timeoutMs;
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

  /** The row of the user first. */
  rowsToExport(person: Person): ExportedRows[] {
    return parentsFirst(this.tablesOf(person)).flatMap(({ exported }) => exported ?? []);
  }

  /** Child rows before their parents, the row of the user last. */
  rowsToErase(person: Person): DeletableRows[] {
    return childrenFirst(this.tablesOf(person)).flatMap(({ erased }) => erased ?? []);
  }

  private tablesOf({ userId, phone }: Person): PersonalTable {
    const byPhone = phone === null ? null : { phone };
    const attempts = phone === null ? null : { hash: In(attemptHashesOf(phone)) };
    // Two conditions, because the index is sorted by id within each of them.
    const postPages = [
      { userId, deletedAt: IsNull() },
      { userId, deletedAt: Not(IsNull()) },
    ];
    const posts = () => rowsInPages(this.dataSource, Post, postPages, { columns: ['id'] });
    const grants = () => rowsInPages(this.dataSource, Grant, [{ userId }], { columns: ['id'] });
    return this.table(User, {
      where: { id: userId },
      omit: ['testCodeHash'],
      add: async () => (user) => ({ test: isTestUser(user) }),
      children: [
        this.table(Comment, { where: { userId }, remove: removeComments }),
        this.table(Post, {
          where: { userId },
          pages: postPages,
          children: [
            this.rowsOfOthers(Comment, userId, posts),
            this.rowsOfOthers(PostLike, userId, posts),
          ],
        }),
        this.table(PostLike, {
          where: { userId },
          omit: ['userId'],
          remove: (tx, keys) => removeLikes(tx, userId, keys),
        }),
        this.table(Grant, {
          where: { userId },
          omit: ['userId', 'identityHash'],
          add: () => this.appNames(),
          children: [
            this.childTable(AuthorizationCode, 'grantId', grants, ['hash', 'codeChallenge']),
            this.childTable(AccessToken, 'grantId', grants, ['hash']),
            this.childTable(RefreshToken, 'grantId', grants, [
              'hash',
              'predecessorHash',
              'encryptedResponse',
            ]),
          ],
        }),
        this.table(SignInSession, { where: { userId }, omit: ['hash', 'userId'] }),
        this.table(OtpChallenge, { where: byPhone, omit: ['codeHash'] }),
        this.table(OtpFailures, {
          where: phone === null ? null : { phone: In([failuresKey(this.config, phone), phone]) },
          omit: ['phone'],
          add: async () => () => ({ phone }),
        }),
        // Its keys are hashes, so the export would say nothing.
        this.table(RateLimitHit, { where: attempts, omit: 'all' }),
        this.table(TrustedDevice, { where: byPhone, omit: ['browserHash'] }),
        this.table(Authorization, {
          where: { userId },
          omit: ['userId', 'browserHash', 'tokenHash', 'codeChallenge'],
        }),
        // The app must still learn that its access has ended. That event has only the id of the user.
        this.table(WebhookEvent, {
          where: { userId },
          erasedWhere: { userId, type: Not('grant.revoked') },
          omit: ['userId'],
        }),
        this.table(IdempotencyKey, {
          where: { userId },
          omit: ['hash', 'requestHash', 'userId'],
        }),
        // Calls belong to the app.
        this.table(ApiCall, { where: { userId }, omit: ['userId'], clear: 'userId' }),
        // Events stay as evidence.
        this.table(AuditEvent, { where: { userId }, clear: 'address' }),
      ],
    });
  }

  private table<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    { where, erasedWhere: some, omit, pages, add, clear, remove, children = [] }: Definition<T>,
  ): PersonalTable {
    const exported = this.exportedRows(entity, pages ?? (where ? [where] : []), omit, add);
    if (!where) return { exported, children };
    // A cleared row must no longer match.
    const erasedWhere =
      clear && !(clear in where) ? { ...where, [clear]: Not(IsNull()) } : (some ?? where);
    const deletion = { clear: clear && [clear], remove };
    const erased = deletableRows(this.dataSource, entity, erasedWhere, deletion);
    return { exported, erased, children };
  }

  /** @param column the id of the parent */
  private childTable<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    column: keyof T & string,
    parents: () => AsyncIterable<readonly { id: string }[]>,
    omit: Omitted<T>,
  ): PersonalTable {
    async function* wheres(): AsyncGenerator<FindOptionsWhere<T>> {
      for await (const page of parents())
        for (const { id } of page) yield { [column]: id } as FindOptionsWhere<T>;
    }
    return {
      exported: this.exportedRows(entity, wheres(), omit),
      erased: childRows(this.dataSource, parents, entity, column),
      children: [],
    };
  }

  /** The rows of other users on the person's posts. They belong to the others, so the export has none; erasure counts them apart. */
  private rowsOfOthers(
    entity: EntityTarget<Comment> | EntityTarget<PostLike>,
    userId: string,
    posts: () => AsyncIterable<readonly { id: string }[]>,
  ): PersonalTable {
    const where = { userId: Not(userId) };
    const erased = childRows<Comment | PostLike>(this.dataSource, posts, entity, 'postId', {
      where,
    });
    return { erased: { ...erased, table: `${erased.table}_of_others` }, children: [] };
  }

  private exportedRows<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    wheres: Iterable<FindOptionsWhere<T>> | AsyncIterable<FindOptionsWhere<T>>,
    omit: readonly string[] | 'all' = [],
    add?: Definition<T>['add'],
  ): ExportedRows | undefined {
    if (omit === 'all') return undefined;
    const { dataSource } = this;
    const { tableName: table, columns } = dataSource.getMetadata(entity);
    const shown = columns.filter(({ propertyName }) => !omit.includes(propertyName));
    async function* rows(): AsyncGenerator<object> {
      const added = await add?.();
      for await (const page of rowsInPages(dataSource, entity, wheres))
        for (const row of page) {
          const values = shown.map((column) => [column.databaseName, column.getEntityValue(row)]);
          yield { ...Object.fromEntries(values), ...added?.(row) };
        }
    }
    return { table, rows: rows() };
  }

  /** Adds the name of the app to a grant. */
  private async appNames(): Promise<(grant: Grant) => object> {
    const apps = await this.dataSource.manager.find(App);
    const names = new Map(apps.map(({ clientId, name }) => [clientId, name]));
    return ({ clientId }) => ({ app: names.get(clientId) });
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

function parentsFirst(table: PersonalTable): PersonalTable[] {
  return [table, ...table.children.flatMap(parentsFirst)];
}

function childrenFirst(table: PersonalTable): PersonalTable[] {
  return [...table.children.flatMap(childrenFirst), table];
}
