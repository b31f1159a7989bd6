import type { EntityManager } from 'typeorm';

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
