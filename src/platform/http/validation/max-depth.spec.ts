import { InvalidRequest } from '../../errors.js';
import { assertMaxDepth } from './request.pipe.js';

/** Nested objects as JSON text, each the only member of the object around it. */
const objects = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/** The violation as `field code`, or undefined. */
function violationOf(text: string): string | undefined {
  try {
    assertMaxDepth(JSON.parse(text) as object);
    return undefined;
  } catch (error) {
    const [violation] = (error as InvalidRequest).extras.errors ?? [];
    return `${violation?.field} ${violation?.code}`.trim();
  }
}

describe('assertMaxDepth', () => {
  it.each([
    ['objects', objects(20)],
    ['arrays', `{"a":${arrays(19)}}`],
  ])('C56 accepts 20 levels of %s', (_, text) => {
    expect(violationOf(text)).toBeUndefined();
  });

  it.each([
    ['21 levels of objects', objects(21)],
    ['21 levels of arrays', `{"a":${arrays(20)}}`],
    ['21 levels in a declared field', `{"content":"a","tags":${arrays(20)}}`],
    ['50,000 levels of objects', objects(50_000)],
    ['50,000 levels of arrays', `{"tags":${arrays(50_000)}}`],
  ])('C56 rejects %s', (_, text) => {
    expect(violationOf(text)).toBe('too_deep');
  });

  it.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf'])(
    'C59 rejects a nested member %s and leaves prototypes unchanged',
    (name) => {
      const member = `{"${name}":{"polluted":true}}`;
      for (const text of [
        `{"content":${member}}`,
        `{"content":"a","tags":[${member}]}`,
        `{"a":${member}}`,
      ])
        expect(violationOf(text)).toBe(`${name} unknown_field`);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect('polluted' in Object).toBe(false);
    },
  );
});
