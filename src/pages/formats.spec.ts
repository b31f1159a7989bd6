import { excerptOf, formatDuration, initialOf, sortedByName } from './formats.js';

describe('sortedByName', () => {
  const countries = [
    { code: 'US', callingCode: '1' },
    { code: 'ES', callingCode: '34' },
    { code: 'AX', callingCode: '358' },
  ];

  it('sorts by the names in the language of the page', () => {
    const names = (locale: string) =>
      sortedByName(countries, locale).map(({ code, name }) => `${code} ${name}`);
    expect(names('en-GB')).toEqual(['AX Åland Islands', 'ES Spain', 'US United States']);
    expect(names('es')).toEqual(['ES España', 'US Estados Unidos', 'AX Islas Aland']);
  });
});

describe('excerptOf', () => {
  it.each([
    ['a short text', 'Free plums', 'Free plums'],
    ['several lines as one', ' Free\r\n\n plums\tat the gate ', 'Free plums at the gate'],
    ['200 characters', 'a'.repeat(200), 'a'.repeat(200)],
    ['whole words', 'word '.repeat(60), `${'word '.repeat(40).trim()}…`],
    ['a part of a long word', 'a'.repeat(300), `${'a'.repeat(199)}…`],
    ['whole characters', '👨‍👩‍👧‍👦'.repeat(30), `${'👨‍👩‍👧‍👦'.repeat(18)}…`],
    ['text without spaces', '花'.repeat(300), `${'花'.repeat(199)}…`],
  ])('keeps %s', (_, text, excerpt) => {
    expect(excerptOf(text)).toBe(excerpt);
  });
});

describe('initialOf', () => {
  it.each([
    ['garden Share', 'G'],
    ['élan', 'É'],
    ['e\u0301lan', 'E\u0301'],
    ['משפחה', 'מ'],
    ['🌱 Seeds', '🌱'],
    ['', ''],
  ])('of "%s" is "%s"', (name, initial) => {
    expect(initialOf(name)).toBe(initial);
  });
});

describe('formatDuration', () => {
  it.each([
    [180 * 86_400, '180 days', '180 días'],
    [2 * 86_400, '2 days', '2 días'],
    [86_400, '24 hours', '24 horas'],
    [7_200, '2 hours', '2 horas'],
    [3_660, '61 minutes', '61 minutos'],
    [300, '5 minutes', '5 minutos'],
    [120, '2 minutes', '2 minutos'],
    [61, '61 seconds', '61 segundos'],
    [1, '1 second', '1 segundo'],
  ])('formats %i seconds as %s, and as %s in Spanish', (seconds, english, spanish) => {
    expect(formatDuration(seconds, 'en-GB')).toBe(english);
    expect(formatDuration(seconds, 'es')).toBe(spanish);
  });

  it('rounds up, so that access never outlives the time shown on a page', () => {
    expect(formatDuration(30 * 86_400 + 1, 'en-GB')).toBe('31 days');
  });
});
