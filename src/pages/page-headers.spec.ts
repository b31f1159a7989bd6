import { pageHeaders } from './page-headers.js';

function policyOf(headers: Record<string, string>): string[] {
  return headers['Content-Security-Policy']?.split('; ') ?? [];
}

describe('pageHeaders', () => {
  it('returns exactly these headers for an https page', () => {
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

  it('omits HSTS on plain http', () => {
    expect(pageHeaders({ secure: false, language: 'en' })).not.toHaveProperty(
      'Strict-Transport-Security',
    );
  });

  it('omits only form-action if a form redirects to an app', () => {
    const standard = policyOf(pageHeaders({ secure: true, language: 'es' }));
    const redirecting = policyOf(
      pageHeaders({ secure: true, language: 'es', formRedirectsToApp: true }),
    );
    expect(redirecting).toEqual(
      standard.filter((directive) => !directive.startsWith('form-action')),
    );
    expect(redirecting).toHaveLength(standard.length - 1);
  });
});
