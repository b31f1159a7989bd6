import { codePoints, escapeInvisible, hasControlCharacter, isBlank, nearestWord } from './text.js';

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

describe('escapeInvisible', () => {
  it.each([
    ['control characters', 'a\u001b[2J\r\u009b2J\u007f', 'a\\u001b[2J\\u000d\\u009b2J\\u007f'],
    ['direction controls', '\u061c\u200e\u202e\u2066\u2069', '\\u061c\\u200e\\u202e\\u2066\\u2069'],
    ['line separators', '\u0085\u2028\u2029', '\\u0085\\u2028\\u2029'],
    [
      'zero-width characters',
      '\u200b\u200d\u2060\ufeff\u00ad',
      '\\u200b\\u200d\\u2060\\ufeff\\u00ad',
    ],
    ['letters without a glyph', '\u034f\u3164', '\\u034f\\u3164'],
    ['tags', '\u{e0041}', '\\udb40\\udc41'],
  ])('O165 escapes %s as JSON does', (_title, text, escaped) => {
    expect(escapeInvisible(text)).toBe(escaped);
    expect(JSON.parse(escapeInvisible(JSON.stringify(text)))).toBe(text);
  });

  it('keeps tab, line feed, variation selectors and visible characters', () => {
    const text = 'É\t\u{1f600}\u2764\ufe0f \u05d0\u00a0\u3000\n';
    expect(escapeInvisible(text)).toBe(text);
  });
});

describe('nearestWord', () => {
  const FIELDS = ['title', 'content', 'type', 'tags', 'latitude', 'longitude', 'reachKm'];

  it.each([
    ['latitiude', 'latitude'],
    ['latitud', 'latitude'],
    ['lattitude', 'latitude'],
    ['longtitude', 'longitude'],
    ['titel', 'title'],
    ['tgas', 'tags'],
    ['tag', 'tags'],
    ['contents', 'content'],
    ['Content', 'content'],
    ['reachKM', 'reachKm'],
    ['reach_km', 'reachKm'],
    ['title', 'title'],
  ])('suggests for %s the word %s', (typed, meant) => {
    expect(nearestWord(typed, FIELDS)).toBe(meant);
  });

  it.each(['', 'x', 'colour', 'body', 'id', 'lat', 'attitude problem', 'userId', '__proto__'])(
    'suggests nothing for %j',
    (typed) => {
      expect(nearestWord(typed, FIELDS)).toBeUndefined();
    },
  );

  it('prefers the nearer word, and the first of equally near words', () => {
    expect(nearestWord('pictures', ['picture', 'pictures of'])).toBe('picture');
    expect(nearestWord('bat', ['cat', 'bar'])).toBe('cat');
    expect(nearestWord('cat', [])).toBeUndefined();
  });

  it('rejects words that differ in more than a third of their letters', () => {
    expect(nearestWord('abxxef', ['abcdef'])).toBe('abcdef');
    expect(nearestWord('axxxef', ['abcdef'])).toBeUndefined();
  });

  it('counts swapped neighbours as one mistake, also at the start and the end', () => {
    for (const typed of ['bac', 'acb']) expect(nearestWord(typed, ['abc'])).toBe('abc');
    expect(nearestWord('cba', ['abc'])).toBeUndefined();
  });
});
