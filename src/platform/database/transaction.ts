import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isOverdue } from '../deadline.js';
import { isConflict, isFileLocked, isLockWait } from './errors.js';
import { longestWaitOn, overdue } from './mysql/timeouts.js';
import { endAbandoned, FileLockWait } from './sqlite.js';

/** Errors of units of work whose end was sent, and not answered well. */
const unheard = new WeakSet<object>();

/** @param error what a unit of work failed with after its COMMIT was sent */
export function noteUnheardCommit(error: unknown): void {
  if (typeof error === 'object' && error !== null) unheard.add(error);
}

/** Whether the unit of work that failed with this error may be committed all the same: the database was lost at its very end. */
export function mayBeCommitted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unheard.has(error);
}

/** An open unit of work. Services pass it on; only repositories look inside. */
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
 * Runs units of work: all of `work` commits, or none of it.
 * A unit that loses against a concurrent one is run again, so `work` must only touch the database through its transaction.
 * Units do not nest: pass the transaction on instead of opening another.
 */
export abstract class TransactionRunner {
  /** How many units wait for their turn, where they take turns. */
  abstract readonly waiting: number;

  abstract run<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  /** The same for a unit that is not run again when it loses, because its caller knows something better. */
  abstract runOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  /**
   * Reads, outside of a unit, what no unit can take back any more. On SQLite, whoever reads otherwise sees what an open unit wrote:
   * there is one connection.
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
