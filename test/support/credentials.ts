/** A credential as only its owner may have it: a prefix of the source document, section 2, and 43 random characters. */
const CREDENTIAL = /(svc_sec|svcac|svcat|svcrt)_[A-Za-z0-9_-]{43}/g;

/**
 * The demo's secret is told where the demo is seeded, once: nobody else may ever have it, and a demo without it could not be
 * tried.
 */
const DEMO_SECRET = /^ {2}Its secret {2,}svc_sec_\S+$/m;

/** @throws when `text` holds a credential, with its prefix and what stands before it */
export function expectNoCredential(text: string, where: string): void {
  const found = [...text.replace(DEMO_SECRET, '').matchAll(CREDENTIAL)].map(
    ({ index, input, 1: prefix }) => `${input.slice(Math.max(0, index - 60), index)}${prefix}_…`,
  );
  if (found.length > 0)
    throw new Error(`${where} holds ${found.length} credentials as they are:\n${found.join('\n')}`);
}

/**
 * What nobody was given, in the form of `given`: its last character alone differs, and not only by bits that base64url leaves out.
 * @throws when nothing was given, since nothing is no other than that
 */
export function anotherThan(given: string | null | undefined): string {
  if (!given) throw new Error('There is nothing that another could differ from.');
  return given.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
}
