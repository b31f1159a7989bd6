import { visible } from './tables.js';

describe('What a terminal is given', () => {
  it('has control characters as JSON writes them, and all else as it was', () => {
    expect(visible('a\u001b[2J\r\u009b2J\u007f')).toBe('a\\u001b[2J\\u000d\\u009b2J\\u007f');
    expect(visible('É\t\u{1f600}\u2028\n')).toBe('É\t\u{1f600}\u2028\n');
  });

  it('is the same JSON', () => {
    const value = { name: '\u0000\u0085\u009f\u007f\n' };
    expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value);
  });
});
