import { redirectUriMatches, redirectUriProblem } from './redirect-uri.js';

/** Whether the registered redirect URI of an app of this kind allows the requested one. */
function matches(registered: string, requested: string, kind: 'public' | 'confidential'): boolean {
  return redirectUriMatches(registered, requested, { anyLoopbackPort: kind === 'public' });
}

const SERVER = {
  publicUrl: 'https://dev.example',
  docsRedirectUri: 'https://dev.example/docs/oauth2-redirect.html',
};

describe('Registration of a redirect URI', () => {
  it.each([
    'https://garden.example/callback',
    'https://garden.example/callback?from=platform',
    'https://garden.example:8443/callback',
    'https://garden.example',
    'http://localhost:8080/callback',
    'http://app.localhost:5173/callback',
    'http://a.b.localhost/callback',
    'http://127.0.0.2/callback',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:53123/callback',
    'http://[::1]/callback',
    'https://[2001:db8::1]:8443/callback?a=%5B1%5D',
    "https://garden.example/a-._~!$&'()+,;=:@/%c3%A4?x=y/z?",
    'com.example.garden:/callback',
    'com.example.garden-share://oauth/callback',
    'com.example.garden:///callback',
    'https://garden.example/callback?encode=1&decode=2&stateless=3&x=code',
    'https://garden.example/code/state?x=1;y=2',
    'https://dev.example:8443/callback',
    'https://sub.dev.example/callback',
    SERVER.docsRedirectUri,
  ])('accepts %s', (uri) => {
    expect(redirectUriProblem(uri, SERVER)).toBeUndefined();
  });

  it.each([
    ['https without slashes', 'https:garden.example/callback', '//'],
    ['an empty string', '', 'absolute'],
    ['a relative reference', '/callback', 'absolute'],
    ['a host without a scheme', 'garden.example/callback', 'absolute'],
    ['a wildcard host', 'https://*.garden.example/callback', 'wildcard'],
    ['a wildcard path', 'https://garden.example/*', 'wildcard'],
    ['a fragment', 'https://garden.example/callback#top', 'fragment'],
    ['an empty fragment', 'https://garden.example/callback#', 'fragment'],
    ['a user name', 'https://me@garden.example/callback', 'user name'],
    ['a user name and password', 'https://me:pw@garden.example/callback', 'user name'],
    ['plain http', 'http://garden.example/callback', 'https'],
    ['plain http on a host that starts with localhost', 'http://localhost.evil.example/', 'https'],
    ['plain http on a private address', 'http://192.168.0.10/callback', 'https'],
    ['plain http on the unspecified address', 'http://0.0.0.0/callback', 'https'],
    ['a scheme without a dot', 'garden:/callback', 'private-use scheme'],
    ['a script', 'javascript:alert(1)', 'private-use scheme'],
    ['a data URL', 'data:text/html,hello', 'private-use scheme'],
    ['a file', 'file:///etc/passwd', 'private-use scheme'],
    ['a space', 'https://garden.example/call back', 'printable'],
    ['a line feed', 'https://garden.example/\ncallback', 'printable'],
    ['a letter outside ASCII', 'https://gärten.example/callback', 'printable'],
    ['a scheme in upper case', 'HTTPS://garden.example/callback', 'scheme in lower case'],
    ['a private-use scheme in upper case', 'com.Example.garden:/cb', 'scheme in lower case'],
    ['a backslash', 'https://garden.example\\cb', 'percent-encode'],
    ['a percent sign without digits', 'https://garden.example/%zz', 'percent-encode'],
    ['a percent sign at the end', 'https://garden.example/100%', 'percent-encode'],
    ['brackets in the query', 'https://garden.example/?a[]=1', 'percent-encode'],
    ['braces', 'https://garden.example/{id}', 'percent-encode'],
    ['a quote', 'https://garden.example/"', 'percent-encode'],
    ...['code', 'state', 'iss', 'error', 'error_description', 'error_uri'].map(
      (name): [string, string, string] => [
        `the response parameter ${name}`,
        `https://garden.example/callback?a=1&${name}=x`,
        `the parameter "${name}"`,
      ],
    ),
    ['an encoded response parameter', 'https://garden.example/?st%61te=x', 'the parameter "state"'],
    ['a parameter of JARM', 'https://garden.example/?response=x', 'the parameter "response"'],
    ['session_state', 'https://garden.example/?session_state=x', 'the parameter "session_state"'],
    ['id_token', 'https://garden.example/?id_token=x', 'the parameter "id_token"'],
    ['access_token', 'https://garden.example/?access_token=x', 'the parameter "access_token"'],
    ['an upper-case parameter', 'https://garden.example/?Code=x', 'the parameter "Code"'],
    ['a parameter without a value', 'https://garden.example/?a=1&ISS', 'the parameter "ISS"'],
    ['a parameter after a semicolon', 'https://garden.example/?a=1;code=x', 'the parameter "code"'],
    ['a parameter of the path', 'https://garden.example/cb;code=x', 'the parameter "code"'],
    ['a parameter with brackets', 'https://garden.example/?code%5B%5D=x', 'the parameter "code[]"'],
    ['a private-use parameter', 'com.example.garden:/cb?Error=x', 'the parameter "Error"'],
    ['an empty host', 'https:///callback', 'a host'],
    ['an empty host with a query', 'https://?callback', 'absolute'],
    ['more slashes', 'https:////garden.example/callback', 'a host'],
    ['an empty loopback host', 'http:///localhost/callback', 'a host'],
    ['a host that begins with a dot', 'https://.garden.example/callback', 'a host'],
    ['two dots in the host', 'https://garden..example/callback', 'a host'],
    ['an empty host with a port', 'https://:443/callback', 'absolute'],
    ['a page of this server', 'https://dev.example/callback', 'on this server'],
    ['this server with its port', 'https://dev.example:443/callback', 'on this server'],
    ['this server in upper case', 'https://DEV.example/', 'on this server'],
    ['another page of the docs', `${SERVER.docsRedirectUri}?x=1`, 'on this server'],
    ['a name that ends with localhost', 'http://evillocalhost/callback', 'https'],
    ['a name under localhost with a dot', 'http://app.localhost.evil.example/', 'https'],
    ['more than 2000 characters', `https://garden.example/${'a'.repeat(2000)}`, 'characters'],
  ])('rejects %s', (_, uri, reason) => {
    expect(redirectUriProblem(uri, SERVER)).toContain(reason);
  });
});

/** URIs that differ from `https://garden.example/callback`, most of them only slightly. */
const DIFFERENT_URIS: readonly [string, string][] = [
  ['an empty string', ''],
  ['a trailing slash', 'https://garden.example/callback/'],
  ['two slashes', 'https://garden.example//callback'],
  ['another case of the path', 'https://garden.example/Callback'],
  ['another case of the host', 'https://GARDEN.example/callback'],
  ['another case of the scheme', 'HTTPS://garden.example/callback'],
  ['an added query', 'https://garden.example/callback?a=1'],
  ['an empty query', 'https://garden.example/callback?'],
  ['plain http', 'http://garden.example/callback'],
  ['the default port', 'https://garden.example:443/callback'],
  ['another port', 'https://garden.example:8443/callback'],
  ['a user name', 'https://a@garden.example/callback'],
  ['an empty user name', 'https://@garden.example/callback'],
  ['the host as user name', 'https://garden.example@evil.example/callback'],
  ['the host as user name with password', 'https://garden.example:x@evil.example/callback'],
  ['a sub-domain', 'https://www.garden.example/callback'],
  ['the parent domain', 'https://example/callback'],
  ['the host as sub-domain', 'https://garden.example.evil.example/callback'],
  ['a longer host', 'https://evilgarden.example/callback'],
  ['a trailing dot of the host', 'https://garden.example./callback'],
  ['a dot segment', 'https://garden.example/x/../callback'],
  ['a dot segment after the path', 'https://garden.example/callback/../callback'],
  ['a single dot segment', 'https://garden.example/./callback'],
  ['a longer path', 'https://garden.example/callback/evil'],
  ['a shorter path', 'https://garden.example/'],
  ['a backslash', 'https://evil.example\\@garden.example/callback'],
  ['percent-encoding', 'https://garden.example/%63allback'],
  ['an encoded slash', 'https://garden.example%2fcallback'],
  ['a fragment', 'https://garden.example/callback#top'],
  ['an empty fragment', 'https://garden.example/callback#'],
  ['a leading space', ' https://garden.example/callback'],
  ['a trailing space', 'https://garden.example/callback '],
  ['a tab', 'https://garden.example/call\tback'],
  ['a trailing line feed', 'https://garden.example/callback\n'],
  ['a line break', 'https://garden.example/callback\r\nX: y'],
  ['a NUL', 'https://garden.example/callback\0'],
  ['a look-alike letter', 'https://gаrden.example/callback'],
  ['a missing scheme', '//garden.example/callback'],
  ['a path alone', '/callback'],
  ['a script', 'javascript:alert(1)'],
  ['a data URL', 'data:text/html,x'],
];

describe('Comparison of a requested redirect URI', () => {
  const registered = 'https://garden.example/callback';
  const withQuery = 'https://garden.example/callback?from=platform';

  it.each([registered, withQuery, 'com.example.app:/cb'])('O4 accepts the registered %s', (uri) => {
    expect(matches(uri, uri, 'confidential')).toBe(true);
    expect(matches(uri, uri, 'public')).toBe(true);
  });

  it.each(DIFFERENT_URIS)('O4 rejects %s', (_, requested) => {
    expect(matches(registered, requested, 'confidential')).toBe(false);
    expect(matches(registered, requested, 'public')).toBe(false);
  });

  it.each([
    ['no query', 'https://garden.example/callback'],
    ['a longer query', 'https://garden.example/callback?from=platform&more=1'],
    [
      'an empty parameter before the registered one',
      'https://garden.example/callback?&from=platform',
    ],
    ['another value', 'https://garden.example/callback?from=Platform'],
  ])('O4 rejects a redirect URI with %s instead of the registered query', (_, requested) => {
    expect(matches(withQuery, requested, 'confidential')).toBe(false);
    expect(matches(withQuery, requested, 'public')).toBe(false);
  });
});

describe('Loopback redirect URI of a public app (RFC 8252 §7.3)', () => {
  it.each([
    ['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:53123/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:65535/cb'],
    ['http://127.0.0.1:8080/cb', 'http://127.0.0.1:53123/cb'],
    ['http://127.0.0.1:8080/cb', 'http://127.0.0.1/cb'],
    ['http://[::1]/cb', 'http://[::1]:53123/cb'],
    ['http://127.0.0.1?a=1', 'http://127.0.0.1:53123?a=1'],
  ])(
    'O5 O6 registered as %s matches %s for a public app, but not for a confidential app',
    (registered, requested) => {
      expect(matches(registered, requested, 'public')).toBe(true);
      expect(matches(registered, requested, 'confidential')).toBe(false);
    },
  );

  it.each([
    ['another path', 'http://127.0.0.1:53123/other'],
    ['a query', 'http://127.0.0.1:53123/callback?a=1'],
    ['a fragment', 'http://127.0.0.1:53123/callback#top'],
    ['https', 'https://127.0.0.1:53123/callback'],
    ['https without a port', 'https://127.0.0.1/callback'],
    ['the other loopback address', 'http://[::1]:53123/callback'],
    ['the other loopback address without a port', 'http://[::1]/callback'],
    ['the name localhost', 'http://localhost:53123/callback'],
    ['the name localhost without a port', 'http://localhost/callback'],
    ['another loopback address', 'http://127.0.0.2:53123/callback'],
    ['another IPv6 address', 'http://[::2]/callback'],
    ['the address in the short form', 'http://127.1:53123/callback'],
    ['the address as a number', 'http://2130706433:53123/callback'],
    ['a host that starts with the address', 'http://127.0.0.1.evil.example:53123/callback'],
    [
      'a host that starts with the address and a port',
      'http://127.0.0.1:4000.evil.example/callback',
    ],
    ['the address and port as user info', 'http://127.0.0.1:53123@evil.example/callback'],
    ['user info before the address', 'http://me@127.0.0.1:53123/callback'],
    ['an empty port', 'http://127.0.0.1:/callback'],
    ['a port above 65535', 'http://127.0.0.1:99999/callback'],
    ['a port of six digits', 'http://127.0.0.1:531230/callback'],
    ['a port that is not a number', 'http://127.0.0.1:x/callback'],
  ])('O5 does not match %s', (_, requested) => {
    expect(matches('http://127.0.0.1/callback', requested, 'public')).toBe(false);
  });

  it.each([
    ['http://[::1]/cb', 'http://localhost/cb'],
    ['http://[::1]/cb', 'http://localhost:5104/cb'],
    ['http://[::1]/cb', 'http://127.0.0.1/cb'],
    ['http://localhost:4000/cb', 'http://127.0.0.1:4000/cb'],
    ['http://localhost:4000/cb', 'http://[::1]:4000/cb'],
    ['http://localhost:4000/cb', 'http://localhost:4001/cb'],
    ['http://localhost:4000/cb', 'http://localhost/cb'],
    ['http://app.localhost:5173/cb', 'http://app.localhost:5174/cb'],
    ['http://app.localhost/cb', 'http://app.localhost:5173/cb'],
    ['http://app.localhost/cb', 'http://other.localhost/cb'],
    ['http://localhost/cb', 'http://app.localhost/cb'],
    ['http://127.0.0.2/cb', 'http://127.0.0.2:53123/cb'],
  ])('O5 registered as %s does not match %s', (registered, requested) => {
    expect(matches(registered, requested, 'public')).toBe(false);
  });

  it.each([
    ['https://app.example/cb', 'https://app.example:8443/cb'],
    ['com.example.app:/cb', 'com.example.app://cb'],
    ['com.example.app:/cb', 'com.example.other:/cb'],
  ])(
    'O6 requires an exact match except on loopback: %s does not match %s',
    (registered, requested) => {
      expect(matches(registered, requested, 'public')).toBe(false);
    },
  );
});
