import { isUrl } from './url.js';

describe('A URL', () => {
  it.each(['https://example.com/a.jpg', 'https://bücher.example/ü?ö#ä', 'http://[::1]:1/'])(
    'may be %s',
    (text) => {
      expect(isUrl(text)).toBe(true);
    },
  );

  it.each(['', '/a.jpg', 'https://', 'https://[::1', 'http://x:99999/'])('is not "%s"', (text) => {
    expect(isUrl(text)).toBe(false);
  });

  it('is one however often it was asked about', () => {
    const answers = new Set<boolean>();
    for (let times = 0; times < 50_000; times += 1) answers.add(isUrl('https://bücher.example/ü'));
    expect([...answers]).toEqual([true]);
  });
});
