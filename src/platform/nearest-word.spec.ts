import { nearestWord } from './text.js';

const FIELDS = ['title', 'content', 'type', 'tags', 'latitude', 'longitude', 'reachKm'];

describe('nearestWord', () => {
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
