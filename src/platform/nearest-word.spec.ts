import { nearestWord } from './text.js';

const FIELDS = ['title', 'content', 'type', 'tags', 'latitude', 'longitude', 'reachKm'];

describe('The nearest word', () => {
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
  ])('of %s is %s', (typed, meant) => {
    expect(nearestWord(typed, FIELDS)).toBe(meant);
  });

  it.each(['', 'x', 'colour', 'body', 'id', 'lat', 'attitude problem', 'userId', '__proto__'])(
    'of %j is none',
    (typed) => {
      expect(nearestWord(typed, FIELDS)).toBeUndefined();
    },
  );

  it('takes the nearer of two, and the first of two that are equally near', () => {
    expect(nearestWord('pictures', ['picture', 'pictures of'])).toBe('picture');
    expect(nearestWord('bat', ['cat', 'bar'])).toBe('cat');
    expect(nearestWord('cat', [])).toBeUndefined();
  });

  it('is no word that differs in more than a third of the longer one', () => {
    expect(nearestWord('abxxef', ['abcdef'])).toBe('abcdef');
    expect(nearestWord('axxxef', ['abcdef'])).toBeUndefined();
  });

  it('counts two neighbours that changed places as one mistake, the first two and the last two as well', () => {
    for (const typed of ['bac', 'acb']) expect(nearestWord(typed, ['abc'])).toBe('abc');
    expect(nearestWord('cba', ['abc'])).toBeUndefined();
  });
});
