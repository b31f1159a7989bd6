import { hasValidServers, serverUrls } from './env.js';

describe('DATABASE_URL', () => {
  it.each([
    ['sqlite:./data/a,b.sqlite'],
    ['mysql://service:secret@db:3306/platform'],
    ['mysql://service:a,b@db/platform'],
    ['mysql://service:a,b@db/platform?x=1,2'],
    ['mariadb://db/a,b'],
  ])('names one server in %s', (url) => {
    expect(serverUrls(url)).toEqual([url]);
    expect(hasValidServers(url)).toBe(true);
  });

  it.each([
    [
      'mysql://service:a,b@one:3306,two/platform?x=1,2',
      ['mysql://service:a,b@one:3306/platform?x=1,2', 'mysql://service:a,b@two/platform?x=1,2'],
    ],
    ['mariadb://one,[::1]:3307', ['mariadb://one', 'mariadb://[::1]:3307']],
  ])('names several servers in %s', (url, urls) => {
    expect(serverUrls(url)).toEqual(urls);
    expect(hasValidServers(url)).toBe(true);
  });

  it.each([
    'mysql://service@one,/platform',
    'mysql://service@,two/platform',
    'mysql://one,two:x/a',
  ])('is invalid as %s', (url) => {
    expect(hasValidServers(url)).toBe(false);
  });
});
