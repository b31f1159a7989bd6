import { pageHeaders } from './page-renderer.js';

function policyOf(headers: Record<string, string>): string[] {
  return headers['Content-Security-Policy']?.split('; ') ?? [];
}

describe('pageHeaders', () => {
  it('returns exactly these headers', () => {
    expect(pageHeaders({ language: 'es' })).toEqual({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': 'es',
      'Cache-Control': 'no-store',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; " +
        "frame-ancestors 'none'; base-uri 'none'",
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'unsafe-none',
    });
  });

  const standard = pageHeaders({ language: 'es' });

  it('omits form-action on the consent page and shows it from the top', () => {
    const headers = pageHeaders({ language: 'es', isConsentPage: true });
    const isFormAction = (directive: string): boolean => directive.startsWith('form-action');
    expect(policyOf(headers)).toEqual(
      policyOf(standard).filter((directive) => !isFormAction(directive)),
    );
    const { 'Content-Security-Policy': _, ...others } = standard;
    expect(headers).toMatchObject({ ...others, 'Document-Policy': 'force-load-at-top' });
    expect(standard).not.toHaveProperty('Document-Policy');
  });

  it('allows our own scripts on a page that runs one', () => {
    const page = pageHeaders({ language: 'es', runsScript: true });
    expect(policyOf(page).filter((directive) => !policyOf(standard).includes(directive))).toEqual([
      "script-src 'self'",
    ]);
  });

  it.each([
    ['https://photos.example/ana.jpg?size=40', "img-src 'self' https://photos.example"],
    ['https://bücher.example:8443/ä.png', "img-src 'self' https://xn--bcher-kva.example:8443"],
    ['http://[2001:db8::1]/a.png', "img-src 'self' http://[2001:db8::1]"],
    ['https://photos.example;script-src', "img-src 'self'"],
    ['https://photos.example,https:/a.png', "img-src 'self'"],
    ['data:image/png;base64,AAAA', "img-src 'self'"],
    ['photo.png', "img-src 'self'"],
  ])('allows the picture %s only from its origin', (pictureUrl, expected) => {
    const page = pageHeaders({ language: 'es', pictureUrl });
    expect(policyOf(page)).toHaveLength(policyOf(standard).length);
    expect(policyOf(page)).toContain(expected);
  });
});
