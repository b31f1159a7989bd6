import { parseIpAddress } from './http-request-context.js';

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
