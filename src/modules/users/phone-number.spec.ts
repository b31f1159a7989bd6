import * as fc from 'fast-check';
import { type CountryCode, getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import {
  callingCodes,
  countryOf,
  formatPhone,
  maskPhone,
  parseCountry,
  parsePhone,
  parsePhoneWithWarning,
} from './phone-number.js';

describe('parsePhone', () => {
  it.each([
    '+14155552671',
    '+1 (415) 555-2671',
    '+1-415-555-2671',
    '+1.415.555.2671',
    ' +14155552671 ',
    '＋14155552671',
    '+١٤١٥٥٥٥٢٦٧١',
    '+१४१५५५५२६७१',
    '\u202a+1 415 555 2671\u202c',
    '\u2066+1 (415) 555\u20112671\u2069',
    '\u200e+1\u00a0415\u2009555\u20132671\ufe0f',
    '\u{e0001}+14155552671',
    '(+1) 415-555-2671',
    '[+1] (415)555.2671',
    'tel:+14155552671',
    'tel:+1-415-555-2671;ext=5',
    'Tel.: +1 415 555 2671',
    'Móvil: +1 415 555 2671',
    '+1 415 555 2671,',
    '+1 415 555 2671;',
    '+1 415 555 2671.',
    "'+14155552671",
    '"+14155552671"',
    '“+1 415 555 2671”',
    '<+14155552671>',
    '++14155552671',
    '+ 1 415 555 2671',
    '+0014155552671',
    '+1·415·555·2671',
    '*+14155552671*',
    'Phone +1 415 555 2671',
    'WhatsApp +1 415-555-2671',
    'T +14155552671',
    'M. +1 415 555 2671',
    'Phone/WhatsApp: +14155552671',
    'Phone (private) - +1 415 555 2671',
    'Téléphone portable +14155552671',
    'TEL;TYPE=CELL:+1-415-555-2671',
    'हाथ का फ़ोन +14155552671',
    '\u{1f4de} +1 415 555 2671 \u{1f4de}',
    '+1 415 555 2671 (mobile)',
    '+1 415 555 2671 - privat',
    '+1 415 555 2671 [WhatsApp / Signal]',
    '+14155552671 هاتف',
    'Mobile: +1 415 555 2671 (private).',
    '+1 415 555 2671 (ext. 5)',
    '+1 415 555 2671 / mobile',
    'Mobile: <+1 415 555 2671> – ask for Ana',
    'https://wa.me/14155552671',
    'http://wa.me/+14155552671',
    'WhatsApp: https://wa.me/14155552671?text=Hello%20there',
    'wa.me/14155552671',
    'https://api.whatsapp.com/send?phone=14155552671&text=1',
    'tel:+14155552671;phone-context=+1',
    'tel:+1-415-555-2671;isub=12345;phone-context=example.com',
  ])('O53 parses "%s" as +14155552671', (typed) => {
    expect(parsePhone(typed)).toBe('+14155552671');
    expect(parsePhone(typed, 'DE')).toBe('+14155552671');
  });

  it.each([
    ['(415) 555-2671', 'US', '+14155552671'],
    ['415-555-2671', 'US', '+14155552671'],
    ['4155552671', 'US', '+14155552671'],
    ['00442079460958', 'DE', '+442079460958'],
    ['00 44 20 7946 0958', 'FR', '+442079460958'],
    ['011442079460958', 'US', '+442079460958'],
    ['0011 44 20 7946 0958', 'AU', '+442079460958'],
    ['001 44 20 7946 0958', 'HK', '+442079460958'],
    ['00 15 44 20 7946 0958', 'BR', '+442079460958'],
    ['0171-3920012 (Handy)', 'DE', '+491713920012'],
    ['Handy 0171 3920012', 'DE', '+491713920012'],
    ['T. 49 171 3920012 privat', 'DE', '+491713920012'],
    ['tel:1713920012;phone-context=+49', 'DE', '+491713920012'],
    ['(0xx11) 91234-5678', 'BR', '+5511912345678'],
    // The international prefix of another country.
    ['00442079460958', 'US', undefined],
  ])('O53 O150 parses "%s" in %s as %s, but not without a country', (typed, country, phone) => {
    expect(parsePhone(typed, country)).toBe(phone);
    expect(parsePhone(typed)).toBeUndefined();
  });

  it.each([
    'nobody',
    '415 555 2671',
    '',
    '+',
    '00',
    '+1',
    '+999123456789',
    '+49301234567890123',
    '+6281234567890123456',
    '9'.repeat(30),
    `+${'1'.repeat(5000)}`,
    `'; DROP TABLE users; --`,
    '<script>alert(1)</script>',
    '+14155552671\r\nBcc: +14155552672',
    '+1415\u0000555267',
    '+14155552671, +14155552672',
    '+14155552671 or 72',
    'Phone +14155552671, mobile +14155552672',
    'Phone +1 415 555 2671 (home), 415 555 2672 (mobile)',
    '+14155552671 (home) / 72 (mobile)',
    '+1 415 555 2671 ext',
    '+1 415 555 2671 x',
    '+1 415 555 2671 (2 rings)',
    '+1 415 call 2671',
    'https://example.com/14155552671',
    'https://wa.me/message/QWERTY',
    `+1 415 555 2671${' '.repeat(100_000)}x`,
  ])('O150 rejects "%.30s"', (typed) => {
    expect(parsePhone(typed)).toBeUndefined();
  });
});

describe('parsePhone of a number without a plus', () => {
  it.each([
    // Only the plus is missing.
    ['49 171 3920012', 'DE', '+491713920012'],
    ['4917139200 12', 'DE', '+491713920012'],
    ['(49) 171/392-0012', 'DE', '+491713920012'],
    ['49 30 23125 191', 'DE', '+493023125191'],
    ['62 812 3456 7890', 'ID', '+6281234567890'],
    ['383 43 201 234', 'XK', '+38343201234'],
    ['44 7700 900191', 'GB', '+447700900191'],
    ['1 415 555 0191', 'US', '+14155550191'],
    // With the trunk prefix, the number is national.
    ['0491 99900191', 'DE', '+4949199900191'],
    // A mobile phone of Italy, whose digits begin with the calling code.
    ['390 264 4420', 'IT', '+393902644420'],
    // After 00, which is the prefix of no number at home.
    ['0049 171 3920012', 'DE', '+491713920012'],
    ['001 415 555 0191', 'US', '+14155550191'],
    ['007 912 345 67 89', 'RU', '+79123456789'],
    // 55 is also a carrier, after which the number would be one of Peru.
    ['0055 51 9 9123 4567', 'BR', '+5551991234567'],
    ['52 1 55 1234 5678', 'MX', '+525512345678'],
    // Of another country than the selected one.
    ['49 171 3920012', 'FR', undefined],
  ])('O53 reads "%s" in %s as %s', (typed, country, phone) => {
    expect(parsePhone(typed, country)).toBe(phone);
  });

  it('O53 finds the example of a mobile number of every country in each spelling', () => {
    const failures: string[] = [];
    for (const { code, callingCode } of callingCodes()) {
      const example = getExampleNumber(code as CountryCode, examples);
      if (example === undefined) continue;
      const { number } = example;
      const spellings = [
        number,
        example.formatInternational(),
        number.slice(1),
        example.formatInternational().slice(1),
        example.formatNational(),
        `(+${callingCode}) ${example.nationalNumber}`,
        `tel:${number}`,
        `'${number}`,
        `+${number};`,
        `00${number.slice(1)}`,
        `+00${number.slice(1)},`,
        formatPhone(number),
      ];
      for (const typed of spellings)
        if (parsePhone(typed, code) !== number)
          failures.push(`${code} ${typed}: ${parsePhone(typed, code)}, not ${number}`);
    }
    expect(failures).toEqual([]);
  });
});

describe('parsePhone of its own result', () => {
  it.each([
    ['+49 (0) 0171 3920012', '+491713920012'],
    ['+49 (0) 171 3920012', '+491713920012'],
    ['+44 (0)20 7946 0191', '+442079460191'],
    ['+39 06 1234 5678', '+390612345678'],
    ['+33 (0) 06 39 98 01 91', undefined],
    // Without a trunk prefix in the country.
    ['+48 (0) 532 092 297', '+48532092297'],
    ['+48-(0)-532 092 297', '+48532092297'],
    ['+48 (0)532 092 297', '+48532092297'],
    ['(+48) (0) 532 092 297', '+48532092297'],
    ['+420 (0) 601 123 456', '+420601123456'],
    ['+30 (0) 691 234 5678', '+306912345678'],
    ['+852 (0) 5123 4567', '+85251234567'],
    ['+39 (0) 347 123 4567', '+393471234567'],
    ['+39 (0) 6 1234 5678', '+390612345678'],
    ['+39 0347 1234567', '+3903471234567'],
    ['+55 (0xx11) 91234-5678', '+5511912345678'],
    ['+55 0XX 11 91234-5678', '+5511912345678'],
    ['+55 (011) 91234-5678', '+5511912345678'],
  ])('O53 parses "%s" to %s', (typed, phone) => {
    expect(parsePhone(typed)).toBe(phone);
  });

  it('O53 changes nothing, in any country, for national and international numbers', () => {
    const countries = callingCodes();
    const country = fc.constantFrom(...countries);
    const digits = fc.stringMatching(/^[0-9]{3,13}$/);
    const prefix = fc.constantFrom('', '0', '00', '(0) ', '(0) 0', '+', '8', '1', '06');
    fc.assert(
      fc.property(country, digits, prefix, fc.boolean(), (from, number, start, isInternational) => {
        const typed = isInternational
          ? `+${from.callingCode} ${start.replace('+', '')}${number}`
          : `${start}${number}`;
        const phone = parsePhone(typed, from.code);
        if (phone === undefined) return;
        // The page shows the number in groups of digits.
        for (const again of [phone, formatPhone(phone)]) {
          expect(parsePhone(again)).toBe(phone);
          expect(parsePhone(again, from.code)).toBe(phone);
        }
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('parsePhone of a number as it was before a change of the numbering plan', () => {
  it.each([
    ['+52 1 55 1234 5678', undefined, '+525512345678'],
    ['+5215512345678', 'DE', '+525512345678'],
    ['+52 55 1234 5678', undefined, '+525512345678'],
    ['1 55 1234 5678', 'MX', '+525512345678'],
    ['044 55 1234 5678', 'MX', '+525512345678'],
    ['(01) 55 1234 5678', 'MX', '+525512345678'],
    ['+52 (045) 55 1234 5678', undefined, '+525512345678'],
    ['+229 97 12 34 56', undefined, '+2290197123456'],
    ['+229 01 97 12 34 56', undefined, '+2290197123456'],
    ['97 12 34 56', 'BJ', '+2290197123456'],
  ])('O53 reads "%s" in %s as %s', (typed, country, phone) => {
    expect(parsePhone(typed, country)).toBe(phone);
  });
});

describe('parsePhoneWithWarning', () => {
  it.each([
    ['+14155552671', undefined, { phone: '+14155552671' }],
    ['+54 9 11 2345 6789', undefined, { phone: '+5491123456789' }],
    ['+54 11 2345 6789', undefined, { phone: '+541123456789', warning: 'fixed_line' }],
    ['0347 1234567', 'IT', { phone: '+3903471234567', warning: 'unknown' }],
    ['+55 11 6123 4567', undefined, { phone: '+551161234567', warning: 'unknown' }],
    ['14155550101', 'DE', { phone: '+4914155550101', warning: 'unknown' }],
    ['+1 621 555 0191', undefined, { phone: '+16215550191', warning: 'unknown' }],
    ['+1 415 555 267', undefined, undefined],
  ])('O53 reads "%s" in %s as %j', (typed, country, parsed) => {
    expect(parsePhoneWithWarning(typed, country)).toEqual(parsed);
  });
});

describe('countryOf', () => {
  it.each([
    ['+14155550191', 'US'],
    ['+14165550191', 'CA'],
    ['+4930123456', 'DE'],
    ['+33123456789', 'FR'],
    // Unknown numbers get the main country of the calling code.
    ['+16215550191', 'US'],
    ['+14365550191', 'US'],
    ['+19245550191', 'US'],
    ['+15655550191', 'US'],
    ['+19995550191', 'US'],
    ['+61412000191', 'AU'],
    ['+393000000191', 'IT'],
    ['+447000000191', 'GB'],
    ['+262690000191', 'RE'],
    ['+590690000191', 'GP'],
    // Known countries of a shared calling code are kept apart.
    ['+18765550191', 'JM'],
    ['+18760000000', 'JM'],
    ['+12425550191', 'BS'],
    ['+447797712345', 'JE'],
    ['+447781123456', 'GG'],
    ['+262639012345', 'YT'],
    ['+77710009998', 'KZ'],
    // A satellite network, and freephone.
    ['+883510000000', undefined],
    ['+80012345678', undefined],
  ])('O52 returns the country of %s: %s', (phone, country) => {
    expect(countryOf(phone)).toBe(country);
  });

  it('O52 returns a country for every possible number of a calling code with a country', () => {
    const phones = callingCodes().flatMap(({ callingCode }) =>
      ['5550000191', '61000191', '900000191', '7000000191'].flatMap(
        (digits) => parsePhone(`+${callingCode}${digits}`) ?? [],
      ),
    );
    expect(phones.length).toBeGreaterThan(300);
    expect(phones.filter((phone) => countryOf(phone) === undefined)).toEqual([]);
  });
});

describe('maskPhone', () => {
  it.each([
    ['+14155552671', '+1 ••• ••71'],
    ['+442079460958', '+44 ••• ••58'],
  ])('shows the calling code and the last two digits of %s', (phone, masked) => {
    expect(maskPhone(phone)).toBe(masked);
  });
});

describe('formatPhone', () => {
  it.each([
    ['+14155552671', '+1\u00a0415\u00a0555\u00a02671'],
    ['+34612345678', '+34\u00a0612\u00a034\u00a056\u00a078'],
    ['+99912345678', '+99912345678'],
  ])('O53 groups the digits of %s', (phone, formatted) => {
    expect(formatPhone(phone)).toBe(formatted);
  });
});

describe('countries of phone numbers', () => {
  it('O53 have a calling code each', () => {
    const all = callingCodes();
    expect(all.length).toBeGreaterThan(240);
    expect(all).toContainEqual({ code: 'ES', callingCode: '34' });
    for (const { callingCode } of all) expect(callingCode).toMatch(/^\d{1,3}$/);
  });

  it('O52 are those of the configuration, if it has any', () => {
    expect(callingCodes(['ES', 'AQ', 'MX'])).toEqual([
      { code: 'ES', callingCode: '34' },
      { code: 'MX', callingCode: '52' },
    ]);
  });

  it.each([
    ['ES', 'ES'],
    ['es', undefined],
    ['AQ', undefined],
    ['', undefined],
    ['constructor', undefined],
    [undefined, undefined],
  ])('O53 parse %s as %s', (code, country) => {
    expect(parseCountry(code)).toBe(country);
  });
});
