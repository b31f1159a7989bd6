import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isPastDeadline } from '../request-context.js';
import { isConflict, isFileLocked, isLockTimeout, UnknownCommitOutcome } from './errors.js';
import { timeoutOf, deadlineExceeded } from './mysql/timeouts.js';
import { discardFailedTransaction, FileLockWait } from './sqlite.js';

/** An open transaction. Services pass it on; only repositories look inside. */
export class Transaction {
  readonly #entities: EntityManager;

  constructor(manager: EntityManager) {
    this.#entities = manager;
  }

  static entitiesOf(tx: Transaction): EntityManager {
    return tx.#entities;
  }
}

/**
 * Runs transactions: all of `work` commits, or none of it.
 * A transaction that loses a conflict runs again, so `work` must do nothing but database work in its transaction.
 * Transactions do not nest: pass the transaction on instead of opening another.
 * All methods throw the errors of `work` and of the driver, and UnknownCommitOutcome.
 */
export abstract class TransactionRunner {
  /** Transactions in the queue. Only SQLite has one. */
  abstract readonly waiting: number;

  abstract run<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  /** The same without a retry. */
  abstract runOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  /**
   * Reads committed rows outside of a transaction. On SQLite, which has one connection, any other read sees the rows of an open
   * transaction.
   */
  abstract readCommitted<T>(read: () => Promise<T>): Promise<T>;
}

/** The entity manager bound to the transaction, for repositories. */
export function entities(tx: Transaction): EntityManager {
  return Transaction.entitiesOf(tx);
}

/** The reverse of `entities`, for the runner and for migrations of data. */
export function transactionOf(manager: EntityManager): Transaction {
  return new Transaction(manager);
}

const RETRIES = 3;
const MAX_PAUSE_MS = 40;

/** The transaction of the running code. One for all applications of a process, since each store costs every promise a little. */
const current = new AsyncLocalStorage<{ dataSource: DataSource; open: boolean }>();

/**
 * On MySQL and MariaDB every transaction has a connection of its own. SQLite has one connection, where a second transaction would
 * nest into the first and its rollback would undo the other's work, so transactions queue.
 */
@Injectable()
export class TypeormTransactionRunner extends TransactionRunner {
  /** Of SQLite. */
  private readonly fileLockWait: FileLockWait | undefined;
  /** No retry after so many milliseconds of lock waits: the client waits, and other requests for the connection. */
  private readonly timeoutMs: number;
  private last: Promise<unknown> = Promise.resolve();
  private queued = 0;

  constructor(private readonly dataSource: DataSource) {
    super();
    const { options } = dataSource;
    this.timeoutMs = timeoutOf(options);
    if (options.type === 'better-sqlite3')
      this.fileLockWait = new FileLockWait(dataSource, options.timeout ?? 0);
  }

  override get waiting(): number {
    return this.queued;
  }

  override run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.serialize(() => this.attempt(work, RETRIES));
  }

  override runOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.serialize(() => this.attempt(work, 0));
  }

  override readCommitted<T>(read: () => Promise<T>): Promise<T> {
    return this.serialize(read);
  }

  /** Serializes transactions on SQLite. */
  private async serialize<T>(work: () => Promise<T>): Promise<T> {
    // On SQLite the inner transaction would wait for the outer one, which waits for it.
    const outer = current.getStore();
    if (outer?.open && outer.dataSource === this.dataSource)
      throw new Error('A transaction was opened inside another.');
    if (!this.fileLockWait) return work();
    this.queued += 1;
    const turn = this.last.then(() => {
      this.queued -= 1;
      return work();
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async attempt<T>(work: (tx: Transaction) => Promise<T>, retries: number): Promise<T> {
    const until = performance.now() + this.timeoutMs;
    for (let retry = 0; ; retry += 1) {
      if (isPastDeadline(this.timeoutMs)) throw deadlineExceeded();
      const own = { dataSource: this.dataSource, open: true };
      let isCommitting = false;
      try {
        const done = await current.run(own, () =>
          this.dataSource.transaction(async (manager) => {
            const outcome = await work(transactionOf(manager));
            isCommitting = true;
            return outcome;
          }),
        );
        this.fileLockWait?.end();
        return done;
      } catch (error) {
        // SQLite rolls back a commit that fails.
        if (this.fileLockWait) discardFailedTransaction(this.dataSource);
        else if (isCommitting && !isConflict(error)) throw new UnknownCommitOutcome(error);
        if (isFileLocked(error)) this.fileLockWait?.begin();
        if (!isConflict(error) || retry === retries) throw error;
        if (isLockTimeout(error) && performance.now() > until) throw error;
        await sleep(Math.random() * MAX_PAUSE_MS * (retry + 1));
      } finally {
        own.open = false;
      }
    }
  }
}
