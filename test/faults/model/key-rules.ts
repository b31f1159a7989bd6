import { type Actor, type Body, rejected, type Result, withHeaders } from './api-call.js';
import { sentOf } from './body-rules.js';

/** A POST that may be repeated. */
interface Repeatable extends Actor {
  path: string;
  body: Body;
  key: string | undefined;
  now: Date;
}

/** The stored response of a key, with its request and time. */
interface Stored {
  request: string;
  result: Result;
  at: Date;
}

const DAY_MS = 86_400_000;

/** Predicts responses to retries with the same `Idempotency-Key`. */
export class KeyRules {
  /** By app, person and key. */
  private readonly stored = new Map<string, Stored>();

  /**
   * Returns the stored response if the same person and app sent the same request with this key within a day, and 422 if they sent
   * another request with it. Otherwise makes a response, and stores a 201.
   */
  once({ app, person, key, path, body, now }: Repeatable, make: () => Result): Result {
    if (key === undefined) return make();
    const slot = `${app} ${person} ${key}`;
    const request = JSON.stringify([path, Object.entries(sentOf(body)).toSorted()]);
    const earlier = this.stored.get(slot);
    if (earlier && now.getTime() - earlier.at.getTime() < DAY_MS) {
      return earlier.request === request
        ? withHeaders(earlier.result, { 'idempotency-replayed': 'true' })
        : rejected(422, 'idempotency_key_reused');
    }
    const result = make();
    if (result.status === 201) this.stored.set(slot, { request, result, at: now });
    return result;
  }
}
