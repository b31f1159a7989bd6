import { networkInterfaces } from 'node:os';
import { checkAddress, parseEndpointUrl, RefusedAddress } from './webhook-address.js';

const check = (host: string, allowsLoopback = false): Promise<void> =>
  checkAddress(new URL(`https://${host}/events`), allowsLoopback);

describe('Addresses of endpoints', () => {
  it.each(['93.184.216.34', '[2606:2800:220:1:248:1893:25c8:1946]'])('%s is allowed', (host) =>
    expect(check(host)).resolves.toBeUndefined(),
  );

  // RFC 6890 lists the ranges.
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1'],
    ...['192.0.0.8', '192.168.1.1', '198.18.0.1', '198.51.100.1', '224.0.0.1', '255.255.255.255'],
    ...['[::]', '[::1]', '[fe80::1]', '[fd00::1]', '[ff02::1]', '[2001:db8::1]'],
    // IPv4 addresses in IPv6 addresses: mapped, NAT64, 6to4.
    ...['[::ffff:10.1.2.3]', '[64:ff9b::a01:203]', '[2002:a01:203::1]'],
    // Compatible (RFC 4291 §2.5.5.1), translated (RFC 2765 §2.1), local NAT64 (RFC 8215), Teredo.
    ...['[::7f00:1]', '[::a01:203]', '[::ffff:0:a01:203]', '[64:ff9b:1::a01:203]'],
    ...[
      '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
      '[fec0::1]',
      '[3fff::1]',
      '[5f00::1]',
      '[100::1]',
    ],
    // Not assigned (RFC 4291 §2.4).
    ...['[::2]', '[1::1]', '[4000::1]', '[e000::1]'],
    // Other notations of 127.0.0.1, which URL parsers translate.
    ...['2130706433', '0x7f.1', '127.1', '017700000001', '127.0.0.1.', '%31%32%37.0.0.1'],
    ...['①②⑦.0.0.1', '127。0。0。1', '0', '[0:0:0:0:0:ffff:127.0.0.1]'],
  ])('%s is refused', async (host) => {
    await expect(check(host)).rejects.toThrow(RefusedAddress);
  });

  it('of this machine are refused', async () => {
    const own = Object.values(networkInterfaces())
      .flat()
      .flatMap((one) => (one?.family === 'IPv4' ? one.address : []));
    for (const address of own) await expect(check(address)).rejects.toThrow(RefusedAddress);
  });

  it('are those of the name, too', async () => {
    await expect(check('localhost')).rejects.toThrow(RefusedAddress);
    await expect(check('localhost', true)).resolves.toBeUndefined();
    await expect(check('no-such-name.invalid')).rejects.toThrow(/^queryA E/);
  });
});

describe('URLs of endpoints', () => {
  it.each([
    ['http://garden.example/events', 'must begin with https://'],
    ['ftp://garden.example/events', 'must begin with https://'],
    ['garden.example/events', 'must begin with https://'],
    ['http://localhost/events', 'must begin with https://'],
    ['https://user:secret@garden.example/', 'no credentials'],
    ['https://garden.example/#', 'no fragment'],
    ['https://[fe80::1%25eth0]/', 'must begin with https://'],
    ['https://garden.example:65536/', 'must begin with https://'],
    ['https://gar\u{1b}den.example/', 'must begin with https://'],
    [`https://garden.example/${'x'.repeat(2048)}`, 'at most 2,048'],
  ])('%s is refused in production', (url, message) => {
    expect(() => parseEndpointUrl(url, true)).toThrow(message);
  });

  it('may begin with http:// on loopback outside of production', () => {
    expect(parseEndpointUrl('http://127.0.0.1:3000/events', false).port).toBe('3000');
    expect(() => parseEndpointUrl('http://garden.example/', false)).toThrow('http:// on loopback');
  });
});
