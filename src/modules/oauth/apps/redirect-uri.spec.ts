import { redirectUriMatches, redirectUriProblem } from './redirect-uri.js';

describe('A redirect URI that may be registered', () => {
  it.each([
    'https://garden.example/callback',
    'https://garden.example/callback?from=platform',
    'https://garden.example:8443/callback',
    'https://garden.example',
    'http://localhost:8080/callback',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:53123/callback',
    'http://[::1]/callback',
    'com.example.garden:/callback',
    'com.example.garden-share://oauth/callback',
  ])('%s', (uri) => {
    expect(redirectUriProblem(uri)).toBeUndefined();
  });
});

describe('A redirect URI that is refused at registration', () => {
  it.each([
    ['https without slashes', 'https:garden.example/callback', '//'],
    ['nothing', '', 'absolute'],
    ['a relative reference', '/callback', 'absolute'],
    ['a host without a scheme', 'garden.example/callback', 'absolute'],
    ['a wildcard host', 'https://*.garden.example/callback', 'wildcard'],
    ['a wildcard path', 'https://garden.example/*', 'wildcard'],
    ['a fragment', 'https://garden.example/callback#top', 'fragment'],
    ['an empty fragment', 'https://garden.example/callback#', 'fragment'],
    ['a user name', 'https://me@garden.example/callback', 'user name'],
    ['a user name and password', 'https://me:pw@garden.example/callback', 'user name'],
    ['plain http', 'http://garden.example/callback', 'https'],
    [
      'plain http on a name that only starts like loopback',
      'http://localhost.evil.example/',
      'https',
    ],
    ['plain http on a private address', 'http://192.168.0.10/callback', 'https'],
    ['plain http on all addresses', 'http://0.0.0.0/callback', 'https'],
    ['a scheme without a dot', 'garden:/callback', 'private-use scheme'],
    ['a script', 'javascript:alert(1)', 'private-use scheme'],
    ['data', 'data:text/html,hello', 'private-use scheme'],
    ['a file', 'file:///etc/passwd', 'private-use scheme'],
    ['a space', 'https://garden.example/call back', 'printable'],
    ['a line feed', 'https://garden.example/\ncallback', 'printable'],
    ['a letter outside ASCII', 'https://gärten.example/callback', 'printable'],
    ['more than 2000 characters', `https://garden.example/${'a'.repeat(2000)}`, 'characters'],
  ])('%s', (_title, uri, reason) => {
    expect(redirectUriProblem(uri)).toContain(reason);
  });
});

describe('A requested redirect URI', () => {
  const registered = 'https://garden.example/callback?from=platform';

  it('matches the registered one, character by character', () => {
    expect(redirectUriMatches(registered, registered, false)).toBe(true);
    expect(redirectUriMatches(registered, registered, true)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['another scheme', 'http://garden.example/callback?from=platform'],
    ['a scheme in capitals', 'HTTPS://garden.example/callback?from=platform'],
    ['a host in capitals', 'https://GARDEN.example/callback?from=platform'],
    ['a subdomain', 'https://a.garden.example/callback?from=platform'],
    ['the parent domain', 'https://example/callback?from=platform'],
    ['a longer host', 'https://garden.example.evil.example/callback?from=platform'],
    ['a host with a dot at its end', 'https://garden.example./callback?from=platform'],
    ['a port', 'https://garden.example:8443/callback?from=platform'],
    ['the default port', 'https://garden.example:443/callback?from=platform'],
    ['user info', 'https://garden.example@evil.example/callback?from=platform'],
    ['an empty user name', 'https://@garden.example/callback?from=platform'],
    ['a backslash', 'https://evil.example\\@garden.example/callback?from=platform'],
    ['a slash at the end of the path', 'https://garden.example/callback/?from=platform'],
    ['two slashes', 'https://garden.example//callback?from=platform'],
    ['a path below', 'https://garden.example/callback/more?from=platform'],
    ['a path above', 'https://garden.example/?from=platform'],
    ['a path that climbs', 'https://garden.example/callback/../callback?from=platform'],
    ['a dot segment', 'https://garden.example/./callback?from=platform'],
    ['a path in capitals', 'https://garden.example/Callback?from=platform'],
    ['a percent-encoded letter', 'https://garden.example/%63allback?from=platform'],
    ['no query', 'https://garden.example/callback'],
    ['a longer query', 'https://garden.example/callback?from=platform&more=1'],
    ['a query in another order', 'https://garden.example/callback?&from=platform'],
    ['another value', 'https://garden.example/callback?from=Platform'],
    ['a fragment', 'https://garden.example/callback?from=platform#top'],
    ['an empty fragment', 'https://garden.example/callback?from=platform#'],
    ['a space after it', 'https://garden.example/callback?from=platform '],
    ['a space before it', ' https://garden.example/callback?from=platform'],
    ['a line feed after it', 'https://garden.example/callback?from=platform\n'],
    ['a null character after it', 'https://garden.example/callback?from=platform\u0000'],
    ['a look-alike letter', 'https://gаrden.example/callback?from=platform'],
  ])('does not match with %s', (_title, requested) => {
    expect(redirectUriMatches(registered, requested, false)).toBe(false);
    expect(redirectUriMatches(registered, requested, true)).toBe(false);
  });
});

describe("A public app's loopback redirect URI (RFC 8252 §7.3)", () => {
  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:53123/callback'],
    ['http://127.0.0.1:8080/callback', 'http://127.0.0.1:53123/callback'],
    ['http://127.0.0.1:8080/callback', 'http://127.0.0.1/callback'],
    ['http://[::1]/callback', 'http://[::1]:53123/callback'],
    ['http://127.0.0.1?a=1', 'http://127.0.0.1:53123?a=1'],
  ])('%s matches %s, whatever the port', (registered, requested) => {
    expect(redirectUriMatches(registered, requested, true)).toBe(true);
    expect(redirectUriMatches(registered, requested, false)).toBe(false);
  });

  it.each([
    ['another path', 'http://127.0.0.1:53123/other'],
    ['a query', 'http://127.0.0.1:53123/callback?a=1'],
    ['a fragment', 'http://127.0.0.1:53123/callback#top'],
    ['https', 'https://127.0.0.1:53123/callback'],
    ['the other loopback address', 'http://[::1]:53123/callback'],
    ['the name of the loopback', 'http://localhost:53123/callback'],
    ['another loopback address', 'http://127.0.0.2:53123/callback'],
    ['an address written short', 'http://127.1:53123/callback'],
    ['an address written as a number', 'http://2130706433:53123/callback'],
    ['a host that starts like it', 'http://127.0.0.1.evil.example:53123/callback'],
    ['user info', 'http://127.0.0.1:53123@evil.example/callback'],
    ['user info before it', 'http://me@127.0.0.1:53123/callback'],
    ['an empty port', 'http://127.0.0.1:/callback'],
    ['a port of six digits', 'http://127.0.0.1:531230/callback'],
    ['a port that is no number', 'http://127.0.0.1:x/callback'],
  ])('does not match with %s', (_title, requested) => {
    expect(redirectUriMatches('http://127.0.0.1/callback', requested, true)).toBe(false);
  });

  it('keeps its port when it is registered by name', () => {
    const registered = 'http://localhost:8080/callback';
    expect(redirectUriMatches(registered, 'http://localhost:8081/callback', true)).toBe(false);
  });
});
