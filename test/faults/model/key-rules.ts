import type { Actor, Body, Told } from './api-call.js';
import { sentOf } from './body-rules.js';
import { refused, withHeaders } from './told.js';

/** A POST that may come more than once. */
interface Repeatable extends Actor {
  path: string;
  body: Body;
  key: string | undefined;
  now: Date;
}

/** What was made under a key, by which request, and when. */
interface Kept {
  request: string;
  told: Told;
  at: Date;
}

const DAY_MS = 86_400_000;

/** What a repetition under the same `Idempotency-Key` is answered. */
export class KeyRules {
  /** By app, person and key. */
  private readonly kept = new Map<string, Kept>();

  /** What the same person was answered, through the same app, when they sent the same under this key within a day. */
  once({ app, person, key, path, body, now }: Repeatable, make: () => Told): Told {
    if (key === undefined) return make();
    const slot = `${app} ${person} ${key}`;
    const request = JSON.stringify([path, Object.entries(sentOf(body)).toSorted()]);
    const earlier = this.kept.get(slot);
    if (earlier && now.getTime() - earlier.at.getTime() < DAY_MS) {
      return earlier.request === request
        ? withHeaders(earlier.told, { 'idempotency-replayed': 'true' })
        : refused(422, 'idempotency_key_reused');
    }
    const told = make();
    if (told.status === 201) this.kept.set(slot, { request, told, at: now });
    return told;
  }
}
