import { loadConfig } from '../../platform/config/load-config.js';
import { parsePhone } from './phone-number.js';
import { canAuthorize, checkTestPhone, isFictional, testCodeHash } from './test-members.js';

const config = loadConfig({});
const real = { testCodeHash: null };
const testMember = { testCodeHash: testCodeHash(config, 'usr_1', '424242') };

describe('Numbers that are reserved for fiction', () => {
  it.each([
    ['the first of North America', '+14155550100'],
    ['the last of North America', '+12125550199'],
    ['a mobile phone of the United Kingdom', '+447700900123'],
    ['London', '+442079460000'],
    ['Birmingham', '+441214960999'],
    ['no area of the United Kingdom', '+441632960555'],
    ['a mobile phone of France', '+33639981234'],
    ['Paris', '+33199001234'],
    ['Sydney', '+61255501234'],
    ['Melbourne', '+61370101234'],
  ])('include %s, which is parsed as itself', (_, phone) => {
    expect(isFictional(phone)).toBe(true);
    expect(parsePhone(phone)).toBe(phone);
    expect(() => checkTestPhone(phone)).not.toThrow();
  });

  it.each([
    '+14155550099',
    '+14155550200',
    '+14155551001',
    '+141555501000',
    '+10555550100',
    '+447700901000',
    '+447700899999',
    '+441174961000',
    '+441194960000',
    '+33639991234',
    '+61455501234',
    '+61255511234',
    '+5214155550100',
  ])('do not include %s, which needs --any-number', (phone) => {
    expect(isFictional(phone)).toBe(false);
    expect(() => checkTestPhone(phone)).toThrow('add --any-number');
    expect(() => checkTestPhone(phone, true)).not.toThrow();
  });
});

describe('A user can authorize', () => {
  it.each([
    ['a test member', 'a test app', testMember, { test: true }, true],
    ['a test member', 'a real app', testMember, { test: false }, false],
    ['a real member', 'a test app', real, { test: true }, false],
    ['a real member', 'a real app', real, { test: false }, true],
    ['a test member', 'no app, on the account pages', testMember, undefined, true],
    ['a real member', 'no app, on the account pages', real, undefined, true],
  ])('%s: %s', (_user, _app, user, app, expected) => {
    expect(canAuthorize(user, app)).toBe(expected);
  });
});

describe('The hash of a fixed code', () => {
  it('depends on the pepper, the user and the code', () => {
    const otherPepper = { otp: { ...config.otp, pepper: 'another pepper' } };
    const hashes = [
      testCodeHash(config, 'usr_1', '424242'),
      testCodeHash(config, 'usr_2', '424242'),
      testCodeHash(config, 'usr_1', '424243'),
      testCodeHash(otherPepper, 'usr_1', '424242'),
    ];
    expect(new Set(hashes).size).toBe(4);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});
