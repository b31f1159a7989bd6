import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isPastDeadline } from '../request-context.js';
import { isConflict, isFileLocked, isLockTimeout, UnknownCommitOutcome } from './errors.js';
import { databaseTimeoutOf, deadlineExceededError } from './mysql/timeouts.js';
import { discardFailedTransaction, FileLockTimeout } from './sqlite.js';

/** An open transaction. Opaque for services; repositories use `entities(tx)`. */
export class Transaction {
  readonly #entities: EntityManager;

  constructor(manager: EntityManager) {
    this.#entities = manager;
  }

  static entitiesOf(tx: Transaction): EntityManager {
    return tx.#entities;
  }
}

/** The entity manager of the transaction, for repositories. */
export function entities(tx: Transaction): EntityManager {
  return Transaction.entitiesOf(tx);
}

const MAX_RETRIES = 3;
/** Maximum pause before the first retry. Each further retry adds the same time to the maximum. */
const MAX_FIRST_PAUSE_MS = 40;

/**
 * The transaction in which the current code runs, to reject nested ones. One store per process, because each store slows down every
 * promise.
 */
const current = new AsyncLocalStorage<{ dataSource: DataSource; open: boolean }>();

/**
 * Runs transactions. On MySQL and MariaDB, each has its own connection. SQLite has one connection, so transactions queue: otherwise a
 * second transaction would nest in the first.
 * Retries a transaction that loses a conflict, so `work` must have no side effects outside of its transaction.
 * Transactions do not nest: pass `tx` on instead of opening another.
 * `run` and `runOnce` throw the errors of `work` and of the driver, UnknownCommitOutcome, and ETIMEDOUT after the deadline of the
 * request.
 */
@Injectable()
export class TransactionRunner {
  /** SQLite only. */
  private readonly fileLockTimeout: FileLockTimeout | undefined;
  /**
   * The time limit for the database work of a request. After this time, a transaction that timed out waiting for a lock is not retried.
   */
  private readonly timeoutMs: number;
  private last: Promise<unknown> = Promise.resolve();
  private queued = 0;

  constructor(private readonly dataSource: DataSource) {
    const { options } = dataSource;
    this.timeoutMs = databaseTimeoutOf(options);
    if (options.type === 'better-sqlite3')
      this.fileLockTimeout = new FileLockTimeout(dataSource, options.timeout ?? 0);
  }

  /** Transactions in the queue. Only SQLite has a queue. */
  get waiting(): number {
    return this.queued;
  }

  run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.serialize(() => this.attempt(work, MAX_RETRIES));
  }

  /** Like `run`, without retries. */
  runOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.serialize(() => this.attempt(work, 0));
  }

  /** Reads committed rows only. On SQLite, which has one connection, other reads see uncommitted rows of an open transaction. */
  readCommitted<T>(read: () => Promise<T>): Promise<T> {
    return this.serialize(read);
  }

  /** Rejects work inside an open transaction. On SQLite, queues it after all earlier work. */
  private async serialize<T>(work: () => Promise<T>): Promise<T> {
    // On SQLite, the inner transaction would deadlock with the outer one.
    const outer = current.getStore();
    if (outer?.open && outer.dataSource === this.dataSource)
      throw new Error('Transactions must not be nested: pass the open transaction on.');
    if (!this.fileLockTimeout) return work();
    this.queued += 1;
    const result = this.last.then(() => {
      this.queued -= 1;
      return work();
    });
    this.last = result.catch(() => undefined);
    return result;
  }

  private async attempt<T>(work: (tx: Transaction) => Promise<T>, maxRetries: number): Promise<T> {
    const lockDeadline = performance.now() + this.timeoutMs;
    for (let retry = 0; ; retry += 1) {
      if (isPastDeadline(this.timeoutMs)) throw deadlineExceededError();
      const context = { dataSource: this.dataSource, open: true };
      let isCommitting = false;
      try {
        const result = await current.run(context, () =>
          this.dataSource.transaction(async (manager) => {
            const value = await work(new Transaction(manager));
            isCommitting = true;
            return value;
          }),
        );
        this.fileLockTimeout?.onSuccess();
        return result;
      } catch (error) {
        // On SQLite, a failed commit is rolled back.
        if (this.fileLockTimeout) discardFailedTransaction(this.dataSource);
        else if (isCommitting && !isConflict(error)) throw new UnknownCommitOutcome(error);
        if (isFileLocked(error)) this.fileLockTimeout?.onTimeout();
        if (!isConflict(error) || retry === maxRetries) throw error;
        if (isLockTimeout(error) && performance.now() > lockDeadline) throw error;
        await sleep(Math.random() * MAX_FIRST_PAUSE_MS * (retry + 1));
      } finally {
        context.open = false;
      }
    }
  }
}
