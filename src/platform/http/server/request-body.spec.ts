import { contentTypeProblem } from './request-body.js';

const TYPE = 'application/json';

describe('contentTypeProblem', () => {
  it.each([
    TYPE,
    'Application/JSON',
    ` ${TYPE} `,
    `${TYPE};`,
    `${TYPE} ; ;`,
    `${TYPE};charset=utf-8`,
    `${TYPE}\t;\tcharset=utf-8\t;`,
    `${TYPE}; CHARSET=UTF8`,
    `${TYPE}; charset="utf-8"`,
    `${TYPE}; charset="Utf\\-8"`,
    `${TYPE}; charset = utf-8`,
    `${TYPE}; charset=us-ascii`,
    `${TYPE}; charset=ASCII`,
  ])('accepts "%s"', (header) => {
    expect(contentTypeProblem(header, TYPE)).toBeNull();
  });

  it.each([
    'odata=verbose',
    'odata.metadata=minimal;odata.streaming=true',
    'charset=utf-8; profile="https://example.com/a;b=c"',
    'profile="charset=utf-16"; charset=utf-8',
    'profile="a\\"; charset=utf-16"',
    'xcharset=utf-16',
    'version=1; charset=UTF-8; q=0.9',
    'verbose',
    'boundary=',
  ])('ignores unknown parameters (RFC 2045 §1): %s', (parameters) => {
    expect(contentTypeProblem(`${TYPE}; ${parameters}`, TYPE)).toBeNull();
  });

  it.each(['charset=', 'charset=""', 'charset', 'charset=; odata=verbose'])(
    'treats an empty charset as absent: %s',
    (parameter) => {
      expect(contentTypeProblem(`${TYPE}; ${parameter}`, TYPE)).toBeNull();
    },
  );

  it.each([
    'ISO-8859-1',
    'latin1',
    'windows-1252',
    'utf-16',
    'utf-16le',
    'UTF-32',
    'utf-7',
    'utf-80',
    'utf',
    '8',
    '"utf-8, utf-16"',
    'bogus',
    'constructor',
  ])('finds the charset %s', (charset) => {
    expect(contentTypeProblem(`${TYPE}; charset=${charset}`, TYPE)).toBe('charset');
    expect(contentTypeProblem(`${TYPE}; a="b;c"; charset=${charset}; d`, TYPE)).toBe('charset');
  });

  it('uses the first of two charsets', () => {
    expect(contentTypeProblem(`${TYPE}; charset=utf-8; charset=latin1`, TYPE)).toBeNull();
    expect(contentTypeProblem(`${TYPE}; charset=latin1; charset=utf-8`, TYPE)).toBe('charset');
  });

  it.each([
    undefined,
    '',
    ';',
    '; charset=utf-8',
    'json',
    'text/json',
    'application/jsonx',
    'application/vnd.api+json',
    `${TYPE}, text/plain`,
    `${TYPE} charset=utf-8`,
    'text/plain; charset=latin1',
    `text/plain; type=${TYPE}`,
  ])('finds the media type of %j', (header) => {
    expect(contentTypeProblem(header, TYPE)).toBe('mediaType');
  });

  it.each([
    `${TYPE}${' '.repeat(16_000)}x`,
    `${TYPE}${';'.repeat(16_000)}`,
    `${TYPE}; a="${'\\'.repeat(16_000)}`,
    `${TYPE}; charset=${'u'.repeat(16_000)}`,
  ])('reads a header of 16 kB in linear time (case %#)', (header) => {
    const start = performance.now();
    for (let times = 0; times < 10; times += 1) contentTypeProblem(header, TYPE);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
