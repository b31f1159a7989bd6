import { UnknownCommitOutcome } from './errors.js';
import { isRetryable } from './group-commit.js';

const errorWith = (fields: object = {}): Error => Object.assign(new Error('It failed.'), fields);

describe('Items of a failed batch', () => {
  it.each([
    ['one of the items was rejected', errorWith()],
    ['the batch timed out', errorWith({ code: 'ER_QUERY_TIMEOUT' })],
    ['the batch lost a conflict', errorWith({ errno: 1213 })],
  ])('are retried individually if %s', (_case, failure) => {
    expect(isRetryable(failure)).toBe(true);
  });

  it.each([
    ['the database is unreachable', errorWith({ code: 'ECONNRESET' })],
    ['the commit was not confirmed', new UnknownCommitOutcome(errorWith())],
    ['the commit timed out', new UnknownCommitOutcome(errorWith({ code: 'ER_QUERY_TIMEOUT' }))],
  ])('are not retried if %s', (_case, failure) => {
    expect(isRetryable(failure)).toBe(false);
  });
});
