import * as fc from 'fast-check';
import type { Body } from './api-call.js';

const TEXTS = ['Hi', 'Bring a chair\nand something to share', '<b>👩‍👩‍👧‍👦 e\u0301'];
const VALID_VALUES = {
  title: ['Party', '🎈'],
  type: ['event', 'lost-and-found2'],
  images: [[], ['https://example.com/a.jpg']],
  tags: [[], ['party', 'party', 'Saturday']],
  reachKm: [0.001, 2.5, 100],
  visibility: ['public', 'neighborhood', 'private'],
};
const PLACE = { latitude: 37.7749, longitude: -122.4194 };
/** Most are invalid. A valid coordinate needs the other one, and `colour` is an unknown field. */
const INVALID_VALUES = {
  title: ['', 'x'.repeat(301), 7],
  content: [' \n', 'x'.repeat(10_001), ['Hi']],
  type: ['Event', 1],
  images: [['https://user@example.com/'], Array.from({ length: 11 }, () => 'https://a.b'), 'x'],
  tags: [[''], ['x'.repeat(51)], Array.from({ length: 21 }, () => 'x'), [1]],
  latitude: [0, 90.5, '0'],
  longitude: [0, -180.5],
  reachKm: [0, 100.5, '1'],
  visibility: ['friends', 1],
  colour: ['red', null],
};

/** For each field, one of its values or null. */
const fieldsFrom = (valuesByField: Readonly<Record<string, readonly unknown[]>>) =>
  Object.fromEntries(
    Object.entries(valuesByField).map(([name, values]) => [name, fc.constantFrom(...values, null)]),
  );

const validPosts: fc.Arbitrary<Body> = fc
  .tuple(
    fc.record(
      { content: fc.constantFrom(...TEXTS), ...fieldsFrom(VALID_VALUES) },
      { requiredKeys: ['content'] },
    ),
    fc.constantFrom({}, PLACE),
  )
  .map(([fields, place]) => ({ ...fields, ...place }));

const possiblyInvalidPosts: fc.Arbitrary<Body> = fc
  .tuple(
    fc.record(fieldsFrom(VALID_VALUES), { requiredKeys: [] }),
    fc.record(fieldsFrom(INVALID_VALUES), { requiredKeys: [] }),
  )
  .map(([fields, wrong]) => ({ ...fields, ...wrong }));

/** Bodies of posts, one in six possibly invalid. */
export const postBodies: fc.Arbitrary<Body> = fc.oneof(
  { weight: 5, arbitrary: validPosts },
  { weight: 1, arbitrary: possiblyInvalidPosts },
);

/** Bodies of comments without `parentId`, one in six possibly invalid. */
export const commentBodies: fc.Arbitrary<Body> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ text: fc.constantFrom(...TEXTS) }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Body>(
      {},
      { text: null },
      { text: '' },
      { text: 7 },
      { text: 'x'.repeat(2001) },
      { text: 'Hi', texts: 'Ho' },
    ),
  },
);

/** The usual value with this weight, or one of the rare values, which together have weight 1. Shrinks to the usual value. */
export function mostly<const T, const R>({
  usual,
  weight,
  rare,
}: {
  usual: T;
  weight: number;
  rare: readonly R[];
}): fc.Arbitrary<T | R> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
}
