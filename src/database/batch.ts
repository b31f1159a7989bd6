import { AsyncResource } from 'node:async_hooks';
import { beginWaiting, limited } from '../common/time-limit.js';

/** An item, and how whoever asked for it is told. */
export interface Asked<I, O> {
  item: I;
  answer: (answer: O) => void;
  refuse: (error: unknown) => void;
}

/** Items that are done together at most. */
const MOST_ITEMS = 64;

const LEFT_OUT = new Error('The work of a batch left an item without an answer.');

/**
 * Does together what is asked for at the same time: all of one turn of the event loop, which under load is what many requests
 * ask for, and otherwise one. Nobody waits for others who may come.
 */
export class Batch<I, O> {
  private waiting: Asked<I, O>[] = [];
  /** The work is part of no single request, so what it logs names none. */
  private readonly outside = new AsyncResource('Batch');

  /** @param work answers or refuses each of 1 to 64 items; when it fails, those that are left are refused with its error */
  constructor(private readonly work: (asked: readonly Asked<I, O>[]) => Promise<unknown>) {}

  add(item: I): Promise<O> {
    const end = beginWaiting();
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(this.begin);
      const answer = (answered: O): void => {
        end();
        resolve(answered);
      };
      const refuse = (error: unknown): void => {
        end();
        reject(error);
      };
      this.waiting.push({ item, answer, refuse });
    });
  }

  private readonly begin = (): void => {
    const { waiting } = this;
    this.waiting = [];
    for (let from = 0; from < waiting.length; from += MOST_ITEMS) {
      const some = waiting.slice(from, from + MOST_ITEMS);
      void this.outside.runInAsyncScope(() => limited(() => this.run(some)));
    }
  };

  private async run(some: readonly Asked<I, O>[]): Promise<void> {
    let failure: unknown = LEFT_OUT;
    try {
      await this.work(some);
    } catch (error) {
      failure = error;
    }
    // Who was answered does not hear of it.
    for (const { refuse } of some) refuse(failure);
  }
}
