import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { Browser } from '../../support/browser.js';
import type { TestApp } from '../../support/test-app.js';

/** Opens an authorization link, signs in as `user` (by default a new user) and decides. Returns the URL of the redirect to the app. */
export async function decide(
  app: TestApp,
  link: string,
  { decision = 'approve', user }: { decision?: 'approve' | 'deny'; user?: UserWithPhone } = {},
): Promise<URL> {
  const browser = new Browser(app);
  const consent = await browser.signIn(link, user ?? (await app.addUser({ name: 'Ana Lee' })));
  const { location, html } = await browser.submit(consent, '/oauth/authorize/decision', {
    scope: new URL(link).searchParams.get('scope')?.split(' ') ?? [],
    decision,
  });
  if (location === null) throw new Error(`The consent page does not redirect:\n${html}`);
  return new URL(location);
}

/** The URL of the redirect with one parameter replaced, as by an attacker. */
export function forged(callbackUrl: URL, name: string, value: string): URL {
  const url = new URL(callbackUrl);
  url.searchParams.set(name, value);
  return url;
}
