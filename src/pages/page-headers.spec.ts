import { pageHeaders } from './page-headers.js';

function policyOf(headers: Record<string, string>): string[] {
  return headers['Content-Security-Policy']?.split('; ') ?? [];
}

describe('pageHeaders', () => {
  it('gives an https page exactly these headers', () => {
    expect(pageHeaders({ secure: true, language: 'es' })).toEqual({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': 'es',
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
    expect(pageHeaders({ secure: false, language: 'en' })).not.toHaveProperty(
      'Strict-Transport-Security',
    );
  });

  it('leaves form-action out, and nothing else, where a form leads to an app', () => {
    const usual = policyOf(pageHeaders({ secure: true, language: 'es' }));
    const leading = policyOf(pageHeaders({ secure: true, language: 'es', leadsToApp: true }));
    expect(leading).toEqual(usual.filter((directive) => !directive.startsWith('form-action')));
    expect(leading).toHaveLength(usual.length - 1);
  });
});
