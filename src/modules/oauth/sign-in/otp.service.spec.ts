import { loadConfig } from '../../../platform/config/load-config.js';
import { LANGUAGES } from '../../../pages/language.js';
import { oneTimePasswordMessage } from './sms/one-time-password-message.js';
import { costOf } from './sms/segments.js';
import { newOneTimePassword, parseOneTimePassword } from './otp.service.js';

const SAMPLES = 60_000;
/** Chi-squared with 9 degrees of freedom exceeds this once in a billion runs. */
const CHI_SQUARED_LIMIT = 60;

describe('newOneTimePassword', () => {
  const passwords = Array.from({ length: SAMPLES }, () => newOneTimePassword());

  it('O43 returns six digits, leading zeros included', () => {
    expect(passwords.filter((password) => !/^\d{6}$/.test(password))).toEqual([]);
    expect(passwords.some((password) => password.startsWith('00'))).toBe(true);
    expect(passwords.some((password) => password.startsWith('99'))).toBe(true);
  });

  it.each([0, 1, 2, 3, 4, 5])('O43 distributes the digits evenly at position %i', (position) => {
    const counts = Array<number>(10).fill(0);
    for (const password of passwords) {
      const digit = Number(password[position]);
      counts[digit] = (counts[digit] ?? 0) + 1;
    }
    const expected = SAMPLES / 10;
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(chiSquared).toBeLessThan(CHI_SQUARED_LIMIT);
  });

  it('O43 repeats passwords as often as chance predicts', () => {
    const distinct = new Set(passwords).size;
    const expected = 1_000_000 * (1 - Math.exp(-SAMPLES / 1_000_000));
    // More than nine standard deviations.
    expect(Math.abs(distinct - expected)).toBeLessThan(400);
  });
});

describe('parseOneTimePassword', () => {
  it.each([
    '123456',
    ' 123 456\n',
    '123-456',
    '123–456',
    '1 2 3 4 5 6',
    '\u200e123456',
    '\u2066123\u00a0456\u2069',
    '１２３４５６',
    '١٢٣٤٥٦',
    '۱۲۳۴۵۶',
    '१२३४५६',
    '\u{1d7cf}\u{1d7d0}\u{1d7d1}\u{1d7d2}\u{1d7d3}\u{1d7d4}',
  ])('reads 123456 from %j', (typed) => {
    expect(parseOneTimePassword(typed)).toBe('123456');
  });

  it.each(['', '12345', '1234567', '12345a', '1٢3۴5½', '123.456', '#123456'])(
    'rejects %j',
    (typed) => {
      expect(parseOneTimePassword(typed)).toBeUndefined();
    },
  );
});

describe('oneTimePasswordMessage', () => {
  /** The alphabet of GSM 03.38, in which a text message has up to 160 characters. Any other character lowers the limit to 70. */
  const GSM = /^[A-Za-z0-9 \n\r@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ!"#¤%&'()*+,\-./:;<=>?¡ÄÖÑÜ§¿äöñüà]*$/;
  const config = loadConfig({ NODE_ENV: 'test', PUBLIC_URL: 'https://id.example' });
  const message = (language: (typeof LANGUAGES)[number]): string =>
    oneTimePasswordMessage('012345', language, config);

  it.each(LANGUAGES)(
    'O58 ends with the host and the code on a line of their own in "%s"',
    (language) => {
      expect(message(language).split('\n').slice(1)).toEqual(['', '@id.example #012345']);
      expect(message(language).split('\n')[0]).toContain('012345');
    },
  );

  it.each(LANGUAGES)('fits one text message in "%s"', (language) => {
    const text = message(language);
    expect(text.length).toBeLessThanOrEqual(GSM.test(text) ? 160 : 70);
  });

  const GARDEN = 'Garden Share';

  it.each([
    ['a short name', GARDEN, GARDEN],
    ['similar letters', 'Huertos de León’s', "Huertos de Leon's"],
    ['a long name', 'x'.repeat(200), /x{6,}\.\.\./],
    ['signs of two septets', '€'.repeat(60), /€{6,}\.\.\./],
  ])('names the app within the same number of segments: %s', (_title, name, shown) => {
    for (const language of LANGUAGES)
      for (const password of ['012345', '01234567']) {
        const text = oneTimePasswordMessage(password, language, config, name);
        expect(costOf(text)).toEqual({ segments: 1, unicode: [] });
        expect(text).toMatch(shown);
        expect(text.split('\n').slice(1)).toEqual(['', `@id.example #${password}`]);
      }
  });

  it.each(LANGUAGES)('leaves out a name in other letters in "%s"', (language) => {
    expect(oneTimePasswordMessage('012345', language, config, 'Соседи')).toBe(message(language));
  });

  it('states the lifetime of the code in each language', () => {
    expect(message('en')).toContain('It expires in 5 minutes.');
    expect(message('es')).toContain('Sirve durante 5 minutos.');
  });
});
