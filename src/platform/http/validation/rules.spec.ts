import { isWebUrl } from './rules.js';

/** The maximum number of non-ASCII characters, as in `rules.ts`. */
const MAX_NON_ASCII = 1000;
const urlWithNonAscii = (count: number) => `https://example.com/${'é'.repeat(count)}`;

describe('isWebUrl', () => {
  it.each([
    'https://bücher.example/ü?ö#ä',
    'HTTP://EXAMPLE.COM',
    'https://example.com/\u0085',
    'https://xn--bcher-kva.example/',
    'https://मराठी.भारत/',
    'https://💩.la/a.jpg',
    'https://نامه‌ای.com/',
    'https://例え。jp/',
    'https://ｅｘａｍｐｌｅ．com/',
    'https://cafe\u0301.example/',
    'https://exa\u00admple.com/',
    'https://e_x_.example/_',
    'https://-a-.example',
    'https://a..b/',
    'https://%65xample.com/',
    'https://1.2.3/',
    'https://example.com:/',
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
    urlWithNonAscii(MAX_NON_ASCII),
  ])('accepts %s', (url) => {
    expect(isWebUrl(url)).toBe(true);
  });

  it.each([
    'https://',
    'https:x',
    'https:/x',
    'https:///x',
    'https://?x',
    'https://#x',
    'https://@x/',
    'https://:@x/',
    'https://user@x',
    'https://💩:💩@x/',
    'https:\\\\x',
    'https://\u200b/',
    'https://x\u3000y/',
    'https://x/\u00a0',
    'https://x/\ufeff',
    'https://x/\u2028',
    'https://x/\u007f',
    'https://a|b/',
    'https://%00/',
    'https://user:secret@x/',
    'http://x y',
    'https://x/\\y',
    'https://x/\ty',
    'https://x/\ud800',
    ' https://x/',
    'ftp://x/',
    '//x/',
    'https://example.com:99999/',
    'http://x:65536',
    'https://256.256.256.256/',
    'https://a.1./',
    'https://a.0x1/',
    'https://[::::]/',
    'https://[1::2::3]/',
    'https://[1:2:3]/',
    'https://[12345::]/',
    'https://[1:2:3:4:5:6:7:8:9]/',
    'https://[1:2:3:4::5:6:7:8]/',
    urlWithNonAscii(MAX_NON_ASCII + 1),
  ])('rejects %s', (url) => {
    expect(isWebUrl(url)).toBe(false);
  });

  it.each([
    `https://${'a.'.repeat(1000)}|`,
    `https://${'é'.repeat(1000)}|`,
    `https://[${'1:'.repeat(1000)}`,
    `https://[${'1:'.repeat(6)}:${'1:'.repeat(900)}`,
    `https://x/${'éa'.repeat(1000)}\n`,
  ])('rejects %s in linear time', (text) => {
    const start = performance.now();
    for (let times = 0; times < 10; times += 1) expect(isWebUrl(text)).toBe(false);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
