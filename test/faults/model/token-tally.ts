import type { Request, Told } from './token-request.js';
import type { Ending } from './token-rules.js';

/** What all sequences of a test have shown. */
export class Tally {
  answers = 0;
  /** How often several requests were under way at once. */
  races = 0;
  /** How often each kind of request got each answer, and what else the model says that happened. */
  readonly outcomes = new Map<string, number>();

  answered({ kind }: Request, { status, body, error }: Told): void {
    this.answers += 1;
    const isActive = kind === 'introspect' && body !== undefined && 'scope' in body;
    this.add([kind, status, ...(isActive ? ['active'] : []), ...(error ? [error] : [])].join(' '));
  }

  /** A request for tokens was answered with those that it was answered before. */
  repeated({ kind }: Request): void {
    this.add(`${kind} answered alike`);
  }

  ended(by: Ending): void {
    this.add(`grant ended by ${by}`);
  }

  private add(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}
