import { UnknownCommitOutcome } from './errors.js';
import { isRetryable } from './group-commit.js';

const failed = (fields: object = {}): Error => Object.assign(new Error('It failed.'), fields);

describe('Items of a shared transaction that failed', () => {
  it.each([
    ['one of them is rejected', failed()],
    ['it takes too long', failed({ code: 'ER_QUERY_TIMEOUT' })],
    ['it loses a conflict', failed({ errno: 1213 })],
  ])('are done alone when %s', (_case, failure) => {
    expect(isRetryable(failure)).toBe(true);
  });

  it.each([
    ['the database is unreachable', failed({ code: 'ECONNRESET' })],
    ['the commit was not confirmed', new UnknownCommitOutcome(failed())],
    ['the commit took too long', new UnknownCommitOutcome(failed({ code: 'ER_QUERY_TIMEOUT' }))],
  ])('are not repeated when %s', (_case, failure) => {
    expect(isRetryable(failure)).toBe(false);
  });
});
