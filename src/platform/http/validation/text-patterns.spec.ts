import { WEB_URL_PATTERN } from './text-patterns.js';

const WEB_URL = new RegExp(WEB_URL_PATTERN, 'u');
const beyond = (count: number) => `https://example.com/${'é'.repeat(count)}`;

describe('The pattern of an address', () => {
  it.each([
    'https://bücher.example/ü?ö#ä',
    'HTTP://EXAMPLE.COM',
    'https://xn--bcher-kva.example/',
    'https://मराठी.भारत/',
    'https://e_x.example.?x',
    'http://1a.b1',
    'http://localhost:65535',
    'http://127.0.0.1:1/',
    'https://[::]',
    'http://[::1]:8080/a',
    'https://[1:2:3:4:5:6:7::]/',
    'https://[::2:3:4:5:6:7:8]',
    'https://[2001:dB8::8:800:200c:417A]',
    'https://[1:2:3:4:5:6:7:8]/x',
    'https://example.com/@user:1?q=@',
    beyond(1000),
  ])('takes %s, and so does whoever reads it', (url) => {
    expect(url).toMatch(WEB_URL);
    expect(new URL(url).protocol).toMatch(/^https?:$/);
  });

  it.each([
    'https://',
    'https://a..b/',
    'https://.a/',
    'https://a|b/',
    'https://%00/',
    'https://user:secret@x/',
    'http://x y',
    'https://example.com:99999/',
    'http://x:65536',
    'https://256.256.256.256/',
    'https://1.2.3/',
    'https://a.1./',
    'https://a.0x1/',
    'https://[::::]/',
    'https://[1::2::3]/',
    'https://[1:2:3]/',
    'https://[12345::]/',
    'https://[1:2:3:4:5:6:7:8:9]/',
    'https://[1:2:3:4::5:6:7:8]/',
    beyond(1001),
  ])('does not take %s', (url) => {
    expect(url).not.toMatch(WEB_URL);
  });

  it.each([
    `https://${'a.'.repeat(1000)}!`,
    `https://${'é'.repeat(1000)}!`,
    `https://[${'1:'.repeat(1000)}`,
    `https://[${'1:'.repeat(6)}:${'1:'.repeat(900)}`,
    `https://x/${'éa'.repeat(1000)}\n`,
  ])('takes no time to refuse %s', (text) => {
    const start = performance.now();
    for (let times = 0; times < 10; times += 1) expect(text).not.toMatch(WEB_URL);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
