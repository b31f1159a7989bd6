import { retryAfter } from './retry-after.js';

describe('retryAfter', () => {
  it.each([
    [1, '1'],
    [604_800, '604800'],
    [604_801, '604800'],
    [2_147_484, '604800'],
  ])('C105 sends %i seconds as %s', (seconds, value) => {
    expect(retryAfter(seconds)).toEqual({ 'Retry-After': value });
  });
});
