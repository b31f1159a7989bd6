import { formTargetOf, pageHeaders } from './page-headers.js';

function policyOf(headers: Record<string, string>): string[] {
  return headers['Content-Security-Policy']?.split('; ') ?? [];
}

describe('pageHeaders', () => {
  it('gives an https page exactly these headers', () => {
    expect(pageHeaders({ secure: true })).toEqual({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; " +
        "frame-ancestors 'none'; base-uri 'none'",
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Opener-Policy': 'unsafe-none',
      'Strict-Transport-Security': 'max-age=31536000',
    });
  });

  it('leaves HSTS out on plain http', () => {
    expect(pageHeaders({ secure: false })).not.toHaveProperty('Strict-Transport-Security');
  });

  it("lets forms lead to this server and to the request's redirect, each named once", () => {
    const target = 'https://app.example';
    const headers = pageHeaders({ secure: true, formTargets: [target, 'com.app:', target] });
    expect(policyOf(headers)).toContain("form-action 'self' https://app.example com.app:");
  });
});

describe('formTargetOf', () => {
  it.each([
    ['https://app.example/callback?tenant=1', 'https://app.example'],
    ['https://app.example:8443/callback', 'https://app.example:8443'],
    ['https://APP.example:443/callback', 'https://app.example'],
    ['http://127.0.0.1:49152/', 'http://127.0.0.1:49152'],
    ['http://localhost:3000/callback', 'http://localhost:3000'],
  ])('names the origin of %s', (redirectUri, target) => {
    expect(formTargetOf(redirectUri)).toBe(target);
  });

  it.each([
    ['com.example.app:/callback', 'com.example.app:'],
    ['com.example.app://callback', 'com.example.app:'],
    ['COM.Example.App:/callback', 'com.example.app:'],
  ])('names the private-use scheme of %s', (redirectUri, target) => {
    expect(formTargetOf(redirectUri)).toBe(target);
  });

  it('names only the scheme of an IPv6 loopback, which a host-source cannot express', () => {
    expect(formTargetOf('http://[::1]:49152/callback')).toBe('http:');
  });

  it('lets no character of a host end the directive', () => {
    expect(formTargetOf("https://a;script-src'.example/")).toBe('https:');
  });

  it('refuses a relative address', () => {
    expect(() => formTargetOf('/callback')).toThrow(TypeError);
  });
});
