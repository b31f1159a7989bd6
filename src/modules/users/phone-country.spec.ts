import { countryOf } from './phone-number.js';

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
    ['an unassigned area of +1', '+19995550191'],
  ])('O52 returns no country for a number of %s', (_, phone) => {
    expect(countryOf(phone)).toBeUndefined();
  });
});
