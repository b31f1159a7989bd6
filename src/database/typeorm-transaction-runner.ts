import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isConflict, isFileLocked, isLockWait } from '../common/database-faults.js';
import { isOverdue } from '../common/time-limit.js';
import { endAbandoned } from './abandoned-transaction.js';
import { FileLockWait } from './file-lock-wait.js';
import { longestWaitOn, overdue } from './overdue.js';
import { noteUnheardCommit } from './unheard-commits.js';
import { transactionOf, TransactionRunner, type Transaction } from './transaction.js';

const RETRIES = 3;
const LONGEST_PAUSE_MS = 40;

/** The unit that the running code is part of. One for all applications of a process, since each costs every promise a little. */
const current = new AsyncLocalStorage<{ dataSource: DataSource; open: boolean }>();

/**
 * On MySQL and MariaDB every unit has a connection of its own. SQLite has one connection for all callers, where a second
 * transaction would nest into the first and its rollback would undo the other's work: there, units wait for each other.
 */
@Injectable()
export class TypeormTransactionRunner extends TransactionRunner {
  /** Of SQLite. */
  private readonly fileLockWait: FileLockWait | undefined;
  /** Who has waited so long for a lock does not wait again: the caller waits, and others for the connection. */
  private readonly longestMs: number;
  private last: Promise<unknown> = Promise.resolve();
  private queued = 0;

  constructor(private readonly dataSource: DataSource) {
    super();
    const { options } = dataSource;
    this.longestMs = longestWaitOn(options);
    if (options.type === 'better-sqlite3')
      this.fileLockWait = new FileLockWait(dataSource, options.timeout ?? 0);
  }

  override get waiting(): number {
    return this.queued;
  }

  override run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.inTurn(() => this.attempt(work, RETRIES));
  }

  override runOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.inTurn(() => this.attempt(work, 0));
  }

  override readCommitted<T>(read: () => Promise<T>): Promise<T> {
    return this.inTurn(read);
  }

  /** Alone, where there is one connection. */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    // On SQLite the inner unit would wait for the outer one, which waits for it.
    const outer = current.getStore();
    if (outer?.open && outer.dataSource === this.dataSource)
      throw new Error('A unit of work was opened inside another.');
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
    const until = performance.now() + this.longestMs;
    for (let retry = 0; ; retry += 1) {
      // Not to take a connection from others for nothing.
      if (isOverdue(this.longestMs)) throw overdue();
      const unit = { dataSource: this.dataSource, open: true };
      let isEnding = false;
      try {
        const done = await current.run(unit, () =>
          this.dataSource.transaction(async (manager) => {
            const outcome = await work(transactionOf(manager));
            isEnding = true;
            return outcome;
          }),
        );
        this.fileLockWait?.end();
        return done;
      } catch (error) {
        if (isEnding && !isConflict(error)) noteUnheardCommit(error);
        if (this.fileLockWait) endAbandoned(this.dataSource);
        if (isFileLocked(error)) this.fileLockWait?.begin();
        if (!isConflict(error) || retry === retries) throw error;
        if (isLockWait(error) && performance.now() > until) throw error;
        await sleep(Math.random() * LONGEST_PAUSE_MS * (retry + 1));
      } finally {
        unit.open = false;
      }
    }
  }
}
