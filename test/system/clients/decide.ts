import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { Browser } from '../../support/browser.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import type { Settings } from './recipes/settings.js';

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

/** The settings of a recipe for a registered app. */
export function settingsOf(
  { baseUrl: issuer }: Pick<TestApp, 'baseUrl'>,
  { clientId, secret: clientSecret, redirectUris: [redirectUri = ''] }: TestClient,
): Settings {
  return { issuer, clientId, clientSecret, redirectUri };
}

/** The status of `GET /dev/v1/me` with this token. */
export async function statusOfMe(app: TestApp, token: unknown): Promise<number> {
  return (await app.call(String(token), 'GET', '/me')).status;
}
