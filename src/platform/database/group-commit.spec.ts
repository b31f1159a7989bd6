import { mayBeRepeated } from './group-commit.js';
import { noteUnheardCommit } from './transaction.js';

const failed = (fields: object = {}): Error => Object.assign(new Error('It failed.'), fields);

function failedCommit(fields: object = {}): Error {
  const error = failed(fields);
  noteUnheardCommit(error);
  return error;
}

describe('What shared a unit that failed', () => {
  it.each([
    ['the work was refused', failed()],
    ['it took too long', failed({ code: 'ER_QUERY_TIMEOUT' })],
    ['it lost against another', failed({ errno: 1213 })],
  ])('is done alone when %s', (_case, failure) => {
    expect(mayBeRepeated(failure)).toBe(true);
  });

  it.each([
    ['the database is away', failed({ code: 'ECONNRESET' })],
    ['nobody knows whether it is committed', failedCommit()],
    ['its commit took too long', failedCommit({ code: 'ER_QUERY_TIMEOUT' })],
  ])('is not done again when %s', (_case, failure) => {
    expect(mayBeRepeated(failure)).toBe(false);
  });
});
