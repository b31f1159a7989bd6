import { idPattern, isId, newId } from './ids.js';

describe('Ids', () => {
  const now = new Date('2026-11-21T09:30:00.000Z');

  it('have their prefix and 26 characters, and differ', () => {
    const ids = Array.from({ length: 1000 }, () => newId('post', now));
    for (const id of ids) expect(id).toMatch(idPattern('post'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sort by the time they were made at', () => {
    const times = [0, 1, 1000, 86_400_000].map((later) => new Date(now.getTime() + later));
    const ids = times.map((time) => newId('cmt', time));
    expect(ids.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(ids);
  });

  it.each([
    ['upper case', newId('post', now).toUpperCase()],
    ['another prefix', newId('usr', now)],
    ['a space behind', `${newId('post', now)} `],
    ['a line break behind', `${newId('post', now)}\n`],
    ['a letter that is none of the alphabet', `post_${'i'.repeat(26)}`],
    ['more bits than a UUID has', `post_8${'0'.repeat(25)}`],
    ['no text', 5],
  ])('are not taken with %s', (_, value) => {
    expect(isId('post', value)).toBe(false);
  });
});
