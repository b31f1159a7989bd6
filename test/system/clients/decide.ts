import type { User } from '../../../src/modules/users/user.entity.js';
import { Browser } from '../../support/browser.js';
import type { TestApp } from '../../support/test-app.js';

/** Opens an app's link as a user (a new one by default), signs in and decides. Returns the URL of the redirect to the app. */
export async function decide(
  app: TestApp,
  link: string,
  { decision = 'approve', user }: { decision?: 'approve' | 'deny'; user?: User } = {},
): Promise<URL> {
  const visitor = new Browser(app);
  const consent = await visitor.signIn(link, user ?? (await app.addUser({ name: 'Ana Lee' })));
  const { location, html } = await visitor.submit(consent, '/oauth/authorize/decision', {
    scope: new URL(link).searchParams.get('scope')?.split(' ') ?? [],
    decision,
  });
  if (location === null) throw new Error(`The consent page does not redirect:\n${html}`);
  return new URL(location);
}

/** The redirect with one parameter changed, as by an attacker. */
export function forged(callbackUrl: URL, name: string, value: string): URL {
  const url = new URL(callbackUrl);
  url.searchParams.set(name, value);
  return url;
}
