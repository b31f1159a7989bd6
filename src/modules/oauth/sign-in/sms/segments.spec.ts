import { loadConfig } from '../../../../platform/config/load-config.js';
import { expensiveMessage, segmentsOfMessages } from './one-time-password-message.js';
import { costOf } from './segments.js';

describe('costOf', () => {
  it.each([
    ['', 1],
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(306), 2],
    ['a'.repeat(307), 3],
    // Two septets each.
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    // The 77th of a segment does not fit into its last septet.
    ['€'.repeat(152), 2],
    ['€'.repeat(153), 3],
    ['ó'.repeat(70), 1],
    ['ó'.repeat(71), 2],
    ['ó'.repeat(134), 2],
    ['ó'.repeat(135), 3],
    [`${'a'.repeat(70)}ó`, 2],
    // Two code units each, of which 33 fit into a segment.
    ['😀'.repeat(35), 1],
    ['😀'.repeat(66), 2],
    ['😀'.repeat(67), 3],
  ])('counts the segments of %s', (text, segments) => {
    expect(costOf(text).segments).toBe(segments);
  });

  it('names each character that is not in GSM 03.38 once, and none of GSM 03.38', () => {
    expect(costOf('Vecinos de León – ’óó á').unicode).toEqual(['ó', '–', '’', 'á']);
    expect(costOf('àèéìòù äöüñ ÄÖÜÑ Çß ¿¡ €[]{}\\^~| ΔΦΓ').unicode).toEqual([]);
  });
});

describe('expensiveMessage', () => {
  const withName = (NETWORK_NAME: string, PUBLIC_URL = 'https://id.example') =>
    loadConfig({ NODE_ENV: 'test', PUBLIC_URL, NETWORK_NAME });

  it.each(['Elm & Oak', "St. Mary's", 'Señor Müller', 'x'.repeat(40)])(
    'is undefined for %s, whose message has one segment in each language',
    (name) => {
      expect(segmentsOfMessages(withName(name))).toBe('1 segment (en), 1 segment (es)');
      expect(expensiveMessage(withName(name))).toBeUndefined();
    },
  );

  it.each([
    ['St. Mary’s', '’ (U+2019)', String.raw`NETWORK_NAME='St. Mary'\''s'`],
    ['Vecinos de León', 'ó (U+00F3)', "NETWORK_NAME='Vecinos de Leon'"],
    ['Elm – São', '– (U+2013), ã (U+00E3)', "NETWORK_NAME='Elm - Sao'"],
    ['Соседи', 'С (U+0421)', 'Write NETWORK_NAME in the letters of that alphabet.'],
  ])('names the characters of %s and a cheaper name', (name, characters, remedy) => {
    const found = expensiveMessage(withName(name));
    expect(found?.summary).toMatch(
      /^A one-time password costs more than one text message: 2 segments \(en\), 2 segments \(es\), because /,
    );
    expect(found?.summary).toContain(`lacks ${characters}`);
    expect(found?.remedy).toBe(remedy);
  });

  it('blames the length if each character is in GSM 03.38', () => {
    const found = expensiveMessage(
      withName('x'.repeat(40), `https://${'host.'.repeat(12)}example`),
    );
    expect(found?.summary).toMatch(/2 segments .*, because it has more than 160 characters$/);
    expect(found?.remedy).toBe('Shorten NETWORK_NAME, or the host of PUBLIC_URL.');
  });
});
