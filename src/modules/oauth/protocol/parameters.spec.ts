import { parse } from 'node:querystring';
import { isWellEncoded, Parameters } from './parameters.js';

function read(query: string): Parameters {
  return new Parameters(parse(query));
}

describe('Parameters of a query or form', () => {
  it('returns the decoded value of a parameter', () => {
    expect(read('state=a%20b+c%2Bd').get('state')).toBe('a b c+d');
  });

  it('returns undefined for a missing parameter, and throws if it is required', () => {
    const parameters = read('scope=posts.read');
    expect(parameters.get('state')).toBeUndefined();
    expect(parameters.all('state')).toEqual([]);
    expect(() => parameters.require('state')).toThrow('state is required.');
    expect(parameters.require('scope')).toBe('posts.read');
  });

  // `authorize-checks.spec.ts` has more queries.
  it.each([
    ['state', [], false],
    ['&state=&', [], false],
    ['state[]=x&state[a]=b', [], false],
    ['state=a&scope=b&state=b&state=', ['a', 'b'], true],
    ['state=a&state=a', ['a', 'a'], true],
    ['state=&state=', [], true],
  ])('O8 O9 O10 returns no state of "%s", but %j, and whether it is repeated: %s', (...row) => {
    const [query, values, isRepeated] = row;
    expect(read(query).get('state')).toBeUndefined();
    expect(read(query).all('state')).toEqual(values);
    expect(read(query).isRepeated('state')).toBe(isRepeated);
    expect(read(query).repeated()).toEqual(isRepeated ? ['state'] : []);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])(
    'O11 treats %s as an ordinary name',
    (name) => {
      expect(new Parameters({}).get(name)).toBeUndefined();
      expect(new Parameters({}).isRepeated(name)).toBe(false);
      expect(read(`${name}=1`).get(name)).toBe('1');
      expect(read(`${name}=1&${name}=2`).repeated()).toEqual([name]);
    },
  );

  it('ignores a value that is not a string, as in a JSON body', () => {
    const parameters = new Parameters({ state: 1, scope: { a: 'b' }, prompt: null });
    for (const name of parameters.names()) expect(parameters.get(name)).toBeUndefined();
  });
});

describe('Percent-encoding of a query', () => {
  it.each(['', 'a=b', 'a=%20%25', 'a=%F0%9F%8F%A1', 'a=état'])('accepts "%s"', (query) => {
    expect(isWellEncoded(query)).toBe(true);
  });

  it.each([
    ['letters that are not hexadecimal digits', '%zz'],
    ['a percent sign alone', '%'],
    ['one digit', '%2'],
    ['a byte that UTF-8 does not use', '%ff'],
    ['an incomplete UTF-8 sequence', '%c3%28'],
    ['a surrogate', '%ed%a0%80'],
    ['an overlong sequence', '%c0%af'],
  ])('O9 rejects %s', (_, broken) => {
    expect(isWellEncoded(`/oauth/authorize?state=${broken}`)).toBe(false);
  });
});
