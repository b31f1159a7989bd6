import { idPattern, isId, newId } from './ids.js';

describe('Ids', () => {
  const now = new Date('2026-11-21T09:30:00.000Z');

  it('have the prefix and 26 characters, and are unique', () => {
    const ids = Array.from({ length: 1000 }, () => newId('post', now));
    for (const id of ids) expect(id).toMatch(idPattern('post'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sort by creation time', () => {
    const times = [0, 1, 1000, 86_400_000].map((later) => new Date(now.getTime() + later));
    const ids = times.map((time) => newId('cmt', time));
    expect(ids.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(ids);
  });

  it.each([
    ['upper case', newId('post', now).toUpperCase()],
    ['another prefix', newId('usr', now)],
    ['a trailing space', `${newId('post', now)} `],
    ['a trailing line break', `${newId('post', now)}\n`],
    ['a letter outside of the alphabet', `post_${'i'.repeat(26)}`],
    ['more than 128 bits', `post_8${'0'.repeat(25)}`],
    ['a number instead of text', 5],
  ])('are invalid with %s', (_, value) => {
    expect(isId('post', value)).toBe(false);
  });
});
