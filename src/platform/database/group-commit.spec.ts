import { UnknownCommitOutcome } from './errors.js';
import { isRetryable } from './group-commit.js';

const failed = (fields: object = {}): Error => Object.assign(new Error('It failed.'), fields);

describe('Items of a failed batch', () => {
  it.each([
    ['one of the items was rejected', failed()],
    ['the batch timed out', failed({ code: 'ER_QUERY_TIMEOUT' })],
    ['the batch lost a conflict', failed({ errno: 1213 })],
  ])('are retried individually if %s', (_case, failure) => {
    expect(isRetryable(failure)).toBe(true);
  });

  it.each([
    ['the database is unreachable', failed({ code: 'ECONNRESET' })],
    ['the commit was not confirmed', new UnknownCommitOutcome(failed())],
    ['the commit timed out', new UnknownCommitOutcome(failed({ code: 'ER_QUERY_TIMEOUT' }))],
  ])('are not retried if %s', (_case, failure) => {
    expect(isRetryable(failure)).toBe(false);
  });
});
