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

  it('allows scripts on the consent page, omits form-action and shows it from the top', () => {
    const standard = pageHeaders({ secure: true, language: 'es' });
    const consent = pageHeaders({ secure: true, language: 'es', isConsentPage: true });
    const isFormAction = (directive: string): boolean => directive.startsWith('form-action');
    expect(policyOf(consent).toSorted()).toEqual(
      [
        ...policyOf(standard).filter((directive) => !isFormAction(directive)),
        "script-src 'self'",
      ].toSorted(),
    );
    const { 'Content-Security-Policy': _, ...others } = standard;
    expect(consent).toMatchObject({ ...others, 'Document-Policy': 'force-load-at-top' });
    expect(standard).not.toHaveProperty('Document-Policy');
  });
});
