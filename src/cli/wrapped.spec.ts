import { wrapped } from './tables.js';

describe('wrapped', () => {
  it.each([
    ['', 5, ['']],
    ['one', 5, ['one']],
    ['one two', 7, ['one two']],
    ['one two', 6, ['one', 'two']],
    ['a bb ccc dddd', 4, ['a bb', 'ccc', 'dddd']],
    ['in 1234567890 pieces', 4, ['in', '1234', '5678', '90', 'piec', 'es']],
    ['🏡🏡🏡 b', 2, ['🏡🏡', '🏡', 'b']],
  ])('makes lines of "%s" that have at most %d characters', (text, width, lines) => {
    expect(wrapped(text, width)).toEqual(lines);
  });
});
