import { list, table, wrappedTable } from './tables.js';

describe('table', () => {
  it('aligns values and cuts none', () => {
    const long = 'x'.repeat(200);
    expect(
      table([
        ['name', long],
        ['client_id', 'a'],
      ]),
    ).toBe(`name       ${long}\nclient_id  a`);
  });

  it('aligns characters beyond the basic plane as one', () => {
    expect(
      table([
        ['🏡', 'a'],
        ['ab', 'b'],
      ]),
    ).toBe('🏡   a\nab  b');
  });
});

describe('wrappedTable', () => {
  it('goes on under a value that is longer than the line', () => {
    const word = 'w'.repeat(40);
    expect(
      wrappedTable([
        ['a', 'b'],
        ['name', `${word} ${word}`],
      ]),
    ).toBe(`a     b\nname  ${word}\n      ${word}`);
  });
});

describe('list', () => {
  const id = 'i'.repeat(40);

  it('has a header and a line per thing', () => {
    expect(
      list(
        ['ID', 'NAME'],
        [
          ['1', 'Ana'],
          ['22', ''],
        ],
      ),
    ).toBe('ID  NAME\n1   Ana\n22');
  });

  it('cuts the last column at 80', () => {
    const lines = list(
      ['ID', 'NAME'],
      [
        [id, 'n'.repeat(39)],
        [id, 'm'.repeat(38)],
      ],
    ).split('\n');
    expect(lines[1]).toBe(`${id}  ${'n'.repeat(37)}…`);
    expect(lines[2]).toBe(`${id}  ${'m'.repeat(38)}`);
  });

  it('shows each thing by itself when a line cannot hold it', () => {
    const wide = 'w'.repeat(30);
    expect(
      list(
        ['ID', 'A', 'NAME'],
        [
          [id, wide, 'a long enough name'],
          [id, 'b', 'c'],
        ],
      ),
    ).toBe(`ID    ${id}\nA     ${wide}\nNAME  a long enough name\n\nID    ${id}\nA     b\nNAME  c`);
  });

  it('is a header alone without things', () => {
    expect(list(['ID', 'NAME'], [])).toBe('ID  NAME');
  });
});
