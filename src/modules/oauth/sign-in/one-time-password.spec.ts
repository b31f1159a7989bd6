import { loadConfig } from '../../../config/load-config.js';
import { LANGUAGES } from '../../../pages/language.js';
import { newOneTimePassword, oneTimePasswordMessage } from './one-time-password.js';

const HOW_MANY = 60_000;
/** Chi-squared with 9 degrees of freedom goes beyond it once in a billion runs. */
const FAR_OFF = 60;

describe('A new one-time password', () => {
  const passwords = Array.from({ length: HOW_MANY }, newOneTimePassword);

  it('O43 is six digits, leading zeros included', () => {
    for (const password of passwords) expect(password).toMatch(/^\d{6}$/);
    expect(passwords.some((password) => password.startsWith('00'))).toBe(true);
    expect(passwords.some((password) => password.startsWith('99'))).toBe(true);
  });

  it.each([0, 1, 2, 3, 4, 5])('O43 has every digit equally often at place %i', (place) => {
    const counts = Array<number>(10).fill(0);
    for (const password of passwords) {
      const digit = Number(password[place]);
      counts[digit] = (counts[digit] ?? 0) + 1;
    }
    const expected = HOW_MANY / 10;
    const distance = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(distance).toBeLessThan(FAR_OFF);
  });

  it('O43 repeats an earlier one no more often than chance does', () => {
    const different = new Set(passwords).size;
    const byChance = 1_000_000 * (1 - Math.exp(-HOW_MANY / 1_000_000));
    expect(Math.abs(different - byChance)).toBeLessThan(400);
  });
});

describe('The message with a one-time password', () => {
  /** The letters of GSM 03.38, of which 160 fit one message; one letter beyond them leaves room for 70. */
  const GSM = /^[A-Za-z0-9 \n\r@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ!"#¤%&'()*+,\-./:;<=>?¡ÄÖÑÜ§¿äöñüà]*$/;
  const config = loadConfig({ NODE_ENV: 'test', PUBLIC_URL: 'https://id.example' });
  const message = (language: (typeof LANGUAGES)[number]): string =>
    oneTimePasswordMessage('012345', language, config);

  it.each(LANGUAGES)(
    'O58 ends in "%s" with the host and the code, in a line of their own',
    (language) => {
      expect(message(language).split('\n').slice(1)).toEqual(['', '@id.example #012345']);
      expect(message(language).split('\n')[0]).toContain('012345');
    },
  );

  it.each(LANGUAGES)(
    'is one message in "%s", whose letters every gateway counts once',
    (language) => {
      expect(message(language)).toMatch(GSM);
      expect(message(language).length).toBeLessThanOrEqual(160);
    },
  );

  it('tells in each language for how long the code works', () => {
    expect(message('en')).toContain('It works for 5 minutes.');
    expect(message('es')).toContain('Sirve durante 5 minutos.');
  });
});
