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

  it.each(['state=', 'state', '&state=&'])(
    'O10 treats the empty parameter in "%s" as omitted (RFC 6749 §3.1)',
    (query) => {
      expect(read(query).get('state')).toBeUndefined();
      expect(() => read(query).require('state')).toThrow('state is required.');
      expect(read(query).isRepeated('state')).toBe(false);
    },
  );

  it('O8 returns no value for a repeated parameter, and lists its name', () => {
    const parameters = read('state=a&scope=posts.read&state=b&state=');
    expect(parameters.get('state')).toBeUndefined();
    expect(parameters.all('state')).toEqual(['a', 'b']);
    expect(parameters.repeated()).toEqual(['state']);
    expect(parameters.get('scope')).toBe('posts.read');
  });

  it.each(['state=a&state=a', 'state=&state='])(
    'O8 treats "%s" as repeated, although the values are equal',
    (query) => {
      expect(read(query).isRepeated('state')).toBe(true);
    },
  );

  it('O9 treats array and object syntax as part of the name', () => {
    const parameters = read('state[]=x&scope[a]=b&scope[a]=c');
    expect(parameters.names()).toEqual(['state[]', 'scope[a]']);
    expect(parameters.get('state')).toBeUndefined();
    expect(parameters.get('scope')).toBeUndefined();
    expect(parameters.repeated()).toEqual(['scope[a]']);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])(
    'O11 treats %s as an ordinary name',
    (name) => {
      expect(read('').get(name)).toBeUndefined();
      expect(read('').isRepeated(name)).toBe(false);
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
