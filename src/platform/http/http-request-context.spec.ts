import { parseTrustProxy } from '../config/trust-proxy.js';
import { parseIpAddress, trustFunction } from './http-request-context.js';

describe('parseIpAddress', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:4711', 'fe80::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::FFFF:cb00:7107]:4711', '203.0.113.7'],
    ['::1', '::1'],
  ])('parses %s as %s', (text, address) => {
    expect(parseIpAddress(text)).toBe(address);
  });

  it.each([undefined, '', 'unknown', '_hidden', '203.0.113', '203.0.113.7:', 'a'.repeat(5000)])(
    'returns null for %s',
    (text) => {
      expect(parseIpAddress(text)).toBeNull();
    },
  );
});

describe('trustFunction', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.5', true],
    ['10.0.0.0/8', '11.0.0.5', false],
    ['10.0.0.0/8', '::ffff:10.0.0.5', true],
    ['10.0.0.0/8', '::ffff:a00:5', true],
    ['10.0.0.0/8', '10.0.0.5:4711', true],
    ['10.0.0.0/8', '[::ffff:10.0.0.5]:4711', true],
    ['10.0.0.5', '10.0.0.5', true],
    ['10.0.0.5', '10.0.0.6', false],
    ['10.0.0.5/8', '10.1.1.1', true],
    ['2001:db8::/64', '2001:db8::7', true],
    ['2001:db8::/64', '[2001:db8::7]:4711', true],
    ['2001:db8::/64', '2001:db8:0:1::7', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['::/1', '10.0.0.5', false],
    ['::/1', '::ffff:10.0.0.5', false],
    ['loopback', '127.0.0.1', true],
    ['loopback', '::1', true],
    ['loopback', '10.0.0.5', false],
    ['loopback,10.0.0.0/24', '10.0.0.5', true],
    ['10.0.0.0/8', 'unknown', false],
    ['10.0.0.0/8', '', false],
  ])('O130 with TRUST_PROXY=%s, whether %j is trusted: %s', (setting, node, isTrusted) => {
    expect(trustFunction(parseTrustProxy(setting))(node, 0)).toBe(isTrusted);
  });

  it('O130 with a number, trusts this many hops', () => {
    const trusts = trustFunction(2);
    expect([0, 1, 2].map((hops) => trusts('203.0.113.7', hops))).toEqual([true, true, false]);
    expect(trustFunction(0)('127.0.0.1', 0)).toBe(false);
  });
});
