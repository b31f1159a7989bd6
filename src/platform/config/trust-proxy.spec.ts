import { parseTrustProxy } from './trust-proxy.js';

const v4 = (address: string, prefix = 32) => ({ address, prefix, family: 'ipv4' });
const v6 = (address: string, prefix = 128) => ({ address, prefix, family: 'ipv6' });

describe('parseTrustProxy', () => {
  it.each([
    ['0', 0],
    ['1', 1],
    ['100', 100],
    ['10.0.0.5', [v4('10.0.0.5')]],
    ['10.0.0.0/8', [v4('10.0.0.0', 8)]],
    ['10.0.0.5/32', [v4('10.0.0.5')]],
    ['2001:db8::1', [v6('2001:db8::1')]],
    ['2001:DB8::/64', [v6('2001:DB8::', 64)]],
    ['10.0.0.5,192.168.0.0/16,::1', [v4('10.0.0.5'), v4('192.168.0.0', 16), v6('::1')]],
    ['loopback', [v4('127.0.0.0', 8), v6('::1')]],
    ['linklocal', [v4('169.254.0.0', 16), v6('fe80::', 10)]],
    [
      'uniquelocal,10.0.0.5',
      [
        v4('10.0.0.0', 8),
        v4('172.16.0.0', 12),
        v4('192.168.0.0', 16),
        v6('fc00::', 7),
        v4('10.0.0.5'),
      ],
    ],
  ])('O130 reads %s', (text, proxies) => {
    expect(parseTrustProxy(text)).toEqual(proxies);
  });

  it.each([
    'true',
    'false',
    'nginx',
    'proxy.example',
    'Loopback',
    'constructor',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.1/',
    '/8',
    '300.1.1.1',
    '10.0.0',
    '10.0.0.*',
    '010.0.0.1',
    '10.0.0.1:8080',
    '[::1]',
    '[::1]:8080',
    'fe80::1%eth0',
    '::/0',
    '::1/129',
    '2001:db8::g',
    '10.0.0.1 ',
    '10.0.0.1, 10.0.0.2',
    '10.0.0.1,,10.0.0.2',
    ',10.0.0.1',
    '10.0.0.1,',
    '10.0.0.1;10.0.0.2',
    '1,10.0.0.1',
    '1.5',
    '-1',
    ' 1',
    '0x1',
  ])('O130 rejects %j', (text) => {
    expect(() => parseTrustProxy(text)).toThrow(/^has ".*", which is neither an IP address nor/);
  });

  it.each(['::ffff:10.0.0.5', '::FFFF:a00:5', '0:0:0:0:0:ffff:10.0.0.0/104', '::ffff:0:0/96'])(
    'O130 rejects %s, which no connection would match',
    (text) => {
      expect(() => parseTrustProxy(text)).toThrow(/; write the IPv4 address without ::ffff:$/);
    },
  );

  it('O130 rejects a number that trusts every entry of X-Forwarded-For', () => {
    expect(() => parseTrustProxy('101')).toThrow('must be at most 100 proxies');
  });
});
