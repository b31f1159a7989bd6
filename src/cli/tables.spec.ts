import { keyValues, list, wrap, wrappedTable } from './tables.js';

describe('keyValues', () => {
  it('aligns values without truncating them', () => {
    const long = 'x'.repeat(200);
    expect(keyValues({ name: long, client_id: 'a' })).toBe(`name       ${long}\nclient_id  a`);
  });

  it('counts a character outside the Basic Multilingual Plane as one character', () => {
    expect(keyValues({ '🏡': 'a', ab: 'b' })).toBe('🏡   a\nab  b');
  });
});

describe('wrappedTable', () => {
  it('continues a long value below, in its own column', () => {
    const word = 'w'.repeat(40);
    const rows = Object.entries({ a: 'b', name: `${word} ${word}` });
    expect(wrappedTable(rows, 80)).toBe(`a     b\nname  ${word}\n      ${word}`);
  });
});

describe('list', () => {
  const id = 'i'.repeat(40);
  const within = (width: number) => ({ width, none: 'There are none.' });

  it('has a header and one line per record', () => {
    const records = Object.entries({ 1: 'Ana', 22: '' });
    expect(list(['ID', 'NAME'], records, within(80))).toBe('ID  NAME\n1   Ana\n22');
  });

  it('truncates the last column so that lines have at most `width` characters', () => {
    const records = ['n'.repeat(39), 'm'.repeat(38)].map((name) => [id, name]);
    const lines = list(['ID', 'NAME'], records, within(80)).split('\n');
    expect(lines[1]).toBe(`${id}  ${'n'.repeat(37)}…`);
    expect(lines[2]).toBe(`${id}  ${'m'.repeat(38)}`);
  });

  it('prints each record as a table when the last column would be too narrow', () => {
    const wide = 'w'.repeat(30);
    const records = [wide, 'b'].map((a) => [id, a, 'a long enough name']);
    const shown = (a: string): string => `ID    ${id}\nA     ${a}\nNAME  a long enough name`;
    expect(list(['ID', 'A', 'NAME'], records, within(80))).toBe(`${shown(wide)}\n\n${shown('b')}`);
  });

  it('keeps every value on one line if the width is unlimited', () => {
    const long = `${'w'.repeat(60)} ${'x'.repeat(60)}`;
    expect(list(['ID', 'A', 'NAME'], [[id, long, long]], within(Infinity)).split('\n')[1]).toBe(
      `${id}  ${long}  ${long}`,
    );
    expect(wrappedTable([['name', long]], Infinity)).toBe(`name  ${long}`);
  });

  it('prints the given text if there are no records', () => {
    expect(list(['ID', 'NAME'], [], within(80))).toBe('There are none.');
  });
});

describe('wrap', () => {
  it.each([
    ['', 5, ['']],
    ['one', 5, ['one']],
    ['one two', 7, ['one two']],
    ['one two', 6, ['one', 'two']],
    ['a bb ccc dddd', 4, ['a bb', 'ccc', 'dddd']],
    ['in 1234567890 pieces', 4, ['in', '1234', '5678', '90', 'piec', 'es']],
    ['🏡🏡🏡 b', 2, ['🏡🏡', '🏡', 'b']],
  ])('wraps "%s" into lines of at most %d characters', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });
});
