import { inWords } from './duration.js';

describe('inWords', () => {
  it.each([
    [180 * 86_400, '180 days'],
    [86_400, '1 day'],
    [7_200, '2 hours'],
    [90, '2 minutes'],
    [45, '45 seconds'],
  ])('says %i seconds as %s', (seconds, words) => {
    expect(inWords(seconds)).toBe(words);
  });

  it('rounds up, so that access never outlives what the page said', () => {
    expect(inWords(30 * 86_400 + 1)).toBe('31 days');
  });
});
