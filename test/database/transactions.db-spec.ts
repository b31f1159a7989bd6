import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { isConflict } from '../../src/platform/database/errors.js';
import {
  entities,
  type Transaction,
  TransactionRunner,
} from '../../src/platform/database/transaction.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import {
  connectMigrated,
  onEachEngine,
  onEachServer,
  type TestDatabase,
} from '../support/database.js';
import { skipCounterCheck } from '../support/invariants.js';

const PERIOD = '2026-11';

/** ER_LOCK_DEADLOCK. The runner retries it on every engine. */
class Conflict extends Error {
  readonly errno = 1213;
}

/** One transaction waits for the latch until another opens it. */
class Latch {
  private readonly emitter = new EventEmitter();
  readonly opened = once(this.emitter, 'open');

  open(): void {
    this.emitter.emit('open');
  }
}

async function insert(tx: Transaction, clientId: string): Promise<void> {
  await entities(tx).insert(QuotaUsage, { clientId, period: PERIOD, used: 0 });
}

async function addOne(tx: Transaction, clientId: string): Promise<void> {
  await entities(tx)
    .createQueryBuilder()
    .update(QuotaUsage)
    .set({ used: () => 'used + 1' })
    .where('client_id = :clientId', { clientId })
    .execute();
}

let dataSource: DataSource;
let transactions: TransactionRunner;

/** Opens the database for a suite. */
function useTransactions({ url }: TestDatabase): void {
  skipCounterCheck({ url });
  beforeAll(async () => {
    dataSource = await connectMigrated(url);
    transactions = new TransactionRunner(dataSource);
  });
  afterAll(() => dataSource.destroy());
}

async function usedBy(clientId: string): Promise<number | undefined> {
  const usage = await dataSource.manager.findOneBy(QuotaUsage, { clientId, period: PERIOD });
  return usage?.used;
}

/** Begins a transaction that inserts a row and ends 50 ms later, with `error` if it is given. */
async function beginSlow(clientId: string, error?: Error): Promise<{ ended: Promise<void> }> {
  const begun = new Latch();
  const ended = transactions.run(async (tx) => {
    await insert(tx, clientId);
    begun.open();
    await sleep(50);
    if (error) throw error;
  });
  await begun.opened;
  return { ended };
}

onEachEngine('Transactions', (database) => {
  useTransactions(database);

  it('roll back when they throw', async () => {
    await transactions.run((tx) => insert(tx, 'kept'));
    const failing = transactions.run(async (tx) => {
      await insert(tx, 'thrown-1');
      await addOne(tx, 'kept');
      await insert(tx, 'thrown-2');
      throw new Error('no');
    });

    await expect(failing).rejects.toThrow('no');
    expect(await usedBy('thrown-1')).toBeUndefined();
    expect(await usedBy('thrown-2')).toBeUndefined();
    expect(await usedBy('kept')).toBe(0);
  });

  it('keep their rows when a concurrent transaction rolls back', async () => {
    const failing = await beginSlow('rolled-back', new Error('no'));
    await Promise.all([
      expect(failing.ended).rejects.toThrow('no'),
      transactions.run((tx) => insert(tx, 'concurrent')),
    ]);
    expect(await usedBy('rolled-back')).toBeUndefined();
    expect(await usedBy('concurrent')).toBe(0);
  });

  it('hide uncommitted rows from readCommitted', async () => {
    const failing = await beginSlow('uncommitted', new Error('no'));
    const seen = transactions.readCommitted(() => usedBy('uncommitted'));
    await expect(failing.ended).rejects.toThrow('no');
    expect(await seen).toBeUndefined();
  });

  it('roll back while another transaction commits', async () => {
    const committing = await beginSlow('slow');
    const failing = transactions.run(async (tx) => {
      await insert(tx, 'quick');
      throw new Error('no');
    });

    await expect(failing).rejects.toThrow('no');
    await committing.ended;
    expect(await usedBy('slow')).toBe(0);
    expect(await usedBy('quick')).toBeUndefined();
  });

  it('lose none of forty concurrent increments', async () => {
    await transactions.run((tx) => insert(tx, 'busy'));
    await Promise.all(
      Array.from({ length: 40 }, () => transactions.run((tx) => addOne(tx, 'busy'))),
    );

    expect(await usedBy('busy')).toBe(40);
  });

  it('run again after a conflict, without the writes of the failed attempt', async () => {
    let attempts = 0;
    const result = await transactions.run(async (tx) => {
      attempts += 1;
      await insert(tx, 'retried');
      if (attempts < 4) throw new Conflict();
      return 'done';
    });

    expect(result).toBe('done');
    expect(attempts).toBe(4);
    expect(await usedBy('retried')).toBe(0);
  });

  it('fail with the last error after three retries', async () => {
    let attempts = 0;
    const failing = transactions.run(async (tx) => {
      attempts += 1;
      await insert(tx, 'hopeless');
      throw new Conflict(`attempt ${attempts}`);
    });

    await expect(failing).rejects.toThrow('attempt 4');
    expect(attempts).toBe(4);
    expect(await usedBy('hopeless')).toBeUndefined();
  });

  it('do not run again after another error', async () => {
    let attempts = 0;
    const failing = transactions.run(() => {
      attempts += 1;
      return Promise.reject(new Error('a bug'));
    });

    await expect(failing).rejects.toThrow('a bug');
    expect(attempts).toBe(1);
  });

  it('cannot be nested, because the inner one would wait forever or commit separately', async () => {
    const opening: (() => Promise<unknown>)[] = [
      () => transactions.run((inner) => insert(inner, 'inner')),
      () => transactions.readCommitted(() => usedBy('inner')),
    ];
    for (const open of opening) {
      const nested = transactions.run(async (tx) => {
        await insert(tx, 'outer');
        await open();
      });
      await expect(nested).rejects.toThrow('must not be nested');
      expect(await usedBy('outer')).toBeUndefined();
    }
  });

  it('succeed when another process writes between their read and their write', async () => {
    await transactions.run((tx) => insert(tx, 'shared'));
    const elsewhere = await connectMigrated(database.url);
    const others = new TransactionRunner(elsewhere);
    let attempts = 0;
    await transactions.run(async (tx) => {
      attempts += 1;
      await entities(tx).findOneByOrFail(QuotaUsage, { clientId: 'shared' });
      if (attempts === 1) await others.run((own) => addOne(own, 'shared'));
      await addOne(tx, 'shared');
    });
    await elsewhere.destroy();

    expect(await usedBy('shared')).toBe(2);
  });

  it('can be opened by background work of an ended transaction', async () => {
    const ended = new Latch();
    const background = await transactions.run((tx) => {
      const later = ended.opened.then(() => transactions.run((own) => insert(own, 'later')));
      return insert(tx, 'sooner').then(() => ({ later }));
    });
    ended.open();
    await background.later;

    expect(await usedBy('later')).toBe(0);
  });
});

onEachServer('Transactions on a server', (database) => {
  useTransactions(database);

  it('succeed after a deadlock', async () => {
    await transactions.run(async (tx) => {
      await insert(tx, 'left');
      await insert(tx, 'right');
    });
    const failures: unknown[] = [];
    let attempts = 0;
    const first = new Latch();
    const second = new Latch();
    const cross = async (own: Latch, other: Latch, [from, to]: [string, string]): Promise<void> =>
      transactions.run(async (tx) => {
        attempts += 1;
        await addOne(tx, from);
        own.open();
        await other.opened;
        await addOne(tx, to).catch((error: unknown) => {
          failures.push(error);
          throw error;
        });
      });
    await Promise.all([
      cross(first, second, ['left', 'right']),
      cross(second, first, ['right', 'left']),
    ]);

    expect(failures.length).toBeGreaterThan(0);
    expect(failures.every(isConflict)).toBe(true);
    expect(attempts).toBe(2 + failures.length);
    expect(await usedBy('left')).toBe(2);
    expect(await usedBy('right')).toBe(2);
  });

  it('O138 see rows that were committed after they began', async () => {
    await transactions.run((tx) => insert(tx, 'watched'));
    const seen = await transactions.run(async (tx) => {
      const used = async (): Promise<number> =>
        (await entities(tx).findOneByOrFail(QuotaUsage, { clientId: 'watched' })).used;
      const before = await used();
      await dataSource.manager.update(QuotaUsage, { clientId: 'watched' }, { used: 7 });
      return [before, await used()];
    });

    expect(seen).toEqual([0, 7]);
  });

  it('run concurrently', async () => {
    const first = new Latch();
    const second = new Latch();
    await Promise.all([
      transactions.run(async (tx) => {
        await insert(tx, 'side');
        first.open();
        await second.opened;
      }),
      transactions.run(async (tx) => {
        await insert(tx, 'by-side');
        second.open();
        await first.opened;
      }),
    ]);

    expect(await usedBy('side')).toBe(0);
    expect(await usedBy('by-side')).toBe(0);
  });
});
