import { Injectable } from '@nestjs/common';
import { Clock, later, MINUTE, SECOND } from '../../../common/clock.js';

/** So long a client may take to come back after an outage, in milliseconds. */
export const UNHEARD_MS = 10 * MINUTE;
/** Once it was answered: that answer may get lost again. */
const GIVEN_MS = 10 * SECOND;
const MOST = 10_000;
/** For each code: who tries again in vain makes no more of them. */
const MOST_ATTEMPTS = 5;

interface Kept {
  sealed: readonly string[];
  until: Date;
}

/**
 * Tokens that may have been committed although the database was lost before it said so. Their client was told to come back, and
 * does so with a code or refresh token that may be used up: it is to have these, since no others can be had. They are known to
 * the process that made them, for ten minutes.
 */
@Injectable()
export class UnheardAnswers {
  /** By the hash of the code or refresh token; those kept first come first. */
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly clock: Clock) {}

  /** @param sealed the tokens, sealed for who has the code; none where they are stored so */
  keep(hash: string, ...sealed: string[]): void {
    const now = this.clock.now();
    const before = this.find(hash) ?? [];
    this.kept.delete(hash);
    this.kept.set(hash, {
      sealed: [...before, ...sealed].slice(-MOST_ATTEMPTS),
      until: later(now, UNHEARD_MS),
    });
    for (const [first, { until }] of this.kept) {
      if (until > now && this.kept.size <= MOST) return;
      this.kept.delete(first);
    }
  }

  /** What was kept, of each attempt, of which one at most was committed; undefined when there was none. */
  find(hash: string): readonly string[] | undefined {
    const kept = this.kept.get(hash);
    return kept && kept.until > this.clock.now() ? kept.sealed : undefined;
  }

  /** It was answered: from now on it may be asked for again for ten seconds only. */
  give(hash: string): void {
    const kept = this.kept.get(hash);
    const soon = later(this.clock.now(), GIVEN_MS);
    if (kept && soon < kept.until) kept.until = soon;
  }
}
