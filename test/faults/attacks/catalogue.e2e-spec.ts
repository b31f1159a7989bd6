import { access } from 'node:fs/promises';
import { tests } from '../../reliability/page.js';

/**
 * The attacks of RFC 9700, section 4, and of the OWASP API Security Top 10 (2023). Each is prevented by rules of
 * docs/reliability.md, which have tests of their own, or by what a test in this folder or another one proves.
 */
const ATTACKS: Readonly<Record<string, string>> = {
  'RFC 9700 4.1 Insufficient redirection URI validation': 'O3 O4 O5 O6 O8 O17 O72 redirects',
  'RFC 9700 4.2 Credential leakage by Referer': 'O18 O27 O29',
  'RFC 9700 4.3 Credential leakage by browser history': 'O18 O27 O60 O69 O77 O116 C35',
  'RFC 9700 4.4 Mix-up': 'O16',
  'RFC 9700 4.5 Authorization code injection': 'O70 O71 O72 O74 O75 O77 O78 O88',
  'RFC 9700 4.6 Access token injection': 'O7 O121',
  'RFC 9700 4.7 Cross-site request forgery': 'O15 O30 O31 O32 O42',
  'RFC 9700 4.8 PKCE downgrade': 'O21 O22 O23 O74 O76',
  'RFC 9700 4.9 Access token leakage at the resource server': 'O133 O143 C33 owasp',
  'RFC 9700 4.10 Misuse of stolen access tokens': 'O106 O109 O112 C32 C33 C38',
  'RFC 9700 4.11 Open redirection': 'O2 O3 O20 O146 redirects',
  'RFC 9700 4.12 307 redirect': 'O18 O148',
  'RFC 9700 4.13 TLS terminating reverse proxies': 'O16 O130 C24 C25 forged-headers',
  'RFC 9700 4.14 Refresh token theft': 'O92 O93 O95 O97 O98 O99 O102',
  'RFC 9700 4.15 Client impersonating resource owner': 'O64 O111',
  'RFC 9700 4.16 Clickjacking': 'O27 O166 owasp',
  'RFC 9700 4.17 In-browser communication flows': 'O7 O26 O28 O121',
  'API1 Broken Object Level Authorization': 'C41 C43 foreign-ids owasp',
  'API2 Broken Authentication': 'O47 O48 O56 O126 O131 C29 C30 C31 C32 C33 C34 C35 C36 C37 owasp',
  'API3 Broken Object Property Level Authorization': 'C59 C60 ../../contract/collector',
  'API4 Unrestricted Resource Consumption':
    'O65 C19 C20 C54 C55 C56 C57 C71 C72 C86 C100 ../overload/slow-bodies',
  'API5 Broken Function Level Authorization': 'C38 C40 owasp',
  'API6 Unrestricted Access to Sensitive Business Flows': 'O52 C103 C108 ../../api/quota',
  'API7 Server Side Request Forgery': 'owasp',
  'API8 Security Misconfiguration': 'O19 O27 C5 C6 C10 owasp',
  'API9 Improper Inventory Management': 'C1 C12 C13 owasp',
  'API10 Unsafe Consumption of APIs': 'O58 owasp',
};

describe('Attacks of RFC 9700 and of the OWASP API Security Top 10 (2023)', () => {
  let proven: string[];
  beforeAll(async () => {
    proven = (await tests()).map(({ number }) => number);
  });

  it.each(Object.entries(ATTACKS))('%s: %s', async (_, proofs) => {
    for (const proof of proofs.split(' '))
      if (/^[OC]\d+$/.test(proof)) expect(proven).toContain(proof);
      else await access(`test/faults/attacks/${proof}.e2e-spec.ts`);
  });
});
