import {
  callingCodes,
  countryOf,
  formatPhone,
  maskPhone,
  parseCountry,
  parsePhone,
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
  ])('O53 parses "%s" as +14155552671', (typed) => {
    expect(parsePhone(typed)).toBe('+14155552671');
    expect(parsePhone(typed, 'DE')).toBe('+14155552671');
  });

  it.each(['(415) 555-2671', '415-555-2671', '4155552671'])(
    'O53 parses the national number "%s" with a default country only',
    (typed) => {
      expect(parsePhone(typed, 'US')).toBe('+14155552671');
      expect(parsePhone(typed)).toBeUndefined();
    },
  );

  it.each([
    ['00442079460958', 'DE'],
    ['00 44 20 7946 0958', 'FR'],
    ['011442079460958', 'US'],
    ['0011 44 20 7946 0958', 'AU'],
    ['001 44 20 7946 0958', 'HK'],
    ['00 15 44 20 7946 0958', 'BR'],
  ])('O150 parses "%s" with the default country %s, but not without one', (typed, country) => {
    expect(parsePhone(typed, country)).toBe('+442079460958');
    expect(parsePhone(typed)).toBeUndefined();
  });

  it('O150 rejects the international prefix of another country', () => {
    expect(parsePhone('00442079460958', 'US')).toBeUndefined();
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
  ])('O150 rejects "%.30s"', (typed) => {
    expect(parsePhone(typed)).toBeUndefined();
  });
});

describe('countryOf', () => {
  it.each([
    ['+14155550191', 'US'],
    ['+14165550191', 'CA'],
    ['+4930123456', 'DE'],
    ['+33123456789', 'FR'],
  ])('O52 returns the country of %s: %s', (phone, country) => {
    expect(countryOf(phone)).toBe(country);
  });

  it.each([
    ['a satellite network', '+883510000000'],
    ['an unassigned area code of +1', '+19995550191'],
  ])('O52 returns no country for a number of %s', (_, phone) => {
    expect(countryOf(phone)).toBeUndefined();
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
