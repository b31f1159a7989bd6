import { inWords } from './duration.js';

describe('inWords', () => {
  it.each([
    [180 * 86_400, '180 days'],
    [2 * 86_400, '2 days'],
    [86_400, '24 hours'],
    [7_200, '2 hours'],
    [3_660, '61 minutes'],
    [300, '5 minutes'],
    [120, '2 minutes'],
    [61, '61 seconds'],
    [1, '1 second'],
  ])('says %i seconds as %s', (seconds, words) => {
    expect(inWords(seconds)).toBe(words);
  });

  it('rounds up, so that access never outlives what the page said', () => {
    expect(inWords(30 * 86_400 + 1)).toBe('31 days');
  });
});
