import { codePoints, hasControlCharacter, isBlank } from './text.js';

describe('Text rules', () => {
  it('count code points, not UTF-16 units or graphemes', () => {
    expect(codePoints('abc')).toBe(3);
    expect(codePoints('\u{1f600}')).toBe(1);
    expect(codePoints('a\ufe0f')).toBe(2);
  });

  it('treat C0 controls and DEL as control characters, except tab, line feed and carriage return', () => {
    const controls = Array.from({ length: 0x3000 }, (_, code) => code).filter((code) =>
      hasControlCharacter(String.fromCodePoint(code)),
    );
    const c0 = Array.from({ length: 0x20 }, (_, code) => code);
    expect(controls).toEqual([...c0.filter((code) => ![0x09, 0x0a, 0x0d].includes(code)), 0x7f]);
  });

  it.each([
    '',
    ' ',
    '\t\n',
    '\u200b',
    '\u3164',
    '\u2800',
    '\u00ad\ufeff',
    '\ufe0f',
    '\u034f',
    '\u17b4\u17b5',
    '\u180b',
    '\u{e0100}',
    '\u2065',
  ])('treat %j as blank', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each(['a', ' . ', '\u{1f600}', '\u0301'])('treat %j as not blank', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});
