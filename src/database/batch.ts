import { AsyncResource } from 'node:async_hooks';

interface Waiting<I, O> {
  item: I;
  answer: (answer: Promise<O>) => void;
}

/** Items that are done together at most. */
const MOST_ITEMS = 64;

/**
 * Does together what is asked for at the same time: all of one turn of the event loop, which under load is what many requests
 * ask for, and otherwise one. Nobody waits for others who may come.
 */
export class Batch<I, O> {
  private waiting: Waiting<I, O>[] = [];
  /** The work is part of no single request, so what it logs names none. */
  private readonly outside = new AsyncResource('Batch');

  /** @param work begins each of 1 to 64 items, and promises their answers in their order */
  constructor(private readonly work: (items: readonly I[]) => readonly Promise<O>[]) {}

  add(item: I): Promise<O> {
    return new Promise((answer) => {
      if (this.waiting.length === 0) setImmediate(this.begin);
      this.waiting.push({ item, answer });
    });
  }

  private readonly begin = (): void => {
    const { waiting } = this;
    this.waiting = [];
    for (let from = 0; from < waiting.length; from += MOST_ITEMS)
      this.answer(waiting.slice(from, from + MOST_ITEMS));
  };

  private answer(some: readonly Waiting<I, O>[]): void {
    const items = some.map(({ item }) => item);
    try {
      const answers = this.outside.runInAsyncScope(this.work, undefined, items);
      for (const [place, { answer }] of some.entries()) answer(answers[place] as Promise<O>);
    } catch (error) {
      for (const { answer } of some) answer(Promise.reject(error));
    }
  }
}
