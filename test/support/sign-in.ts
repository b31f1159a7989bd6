import { formatPhone } from '../../src/modules/users/phone-number.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page, type Site } from './browser.js';
import { expectPage } from './responses.js';

export const SIGN_IN = '/oauth/authorize/sign-in';
export const VERIFY = '/oauth/authorize/verify';
export const SIGN_OUT = '/oauth/authorize/sign-out';
export const DECISION = '/oauth/authorize/decision';

/** Opens the app's link and submits the phone number. Returns the page for the one-time password, or that of an error. */
export async function submitPhone(visitor: Browser, link: string, phone: string): Promise<Page> {
  return visitor.submit(await visitor.open(link), SIGN_IN, { phone });
}

/** A browser in which the user signed in before, without a session. */
export async function trustedBrowser(
  site: Site,
  link: string,
  user: Pick<UserWithPhone, 'phone'>,
): Promise<Browser> {
  const browser = new Browser(site);
  await browser.signIn(link, user);
  browser.cookies.delete('session');
  return browser;
}

/** Another one-time password than `code`, and another one for each offset. */
export function wrongCode(code: string, offset = 1): string {
  return String((Number(code) + offset) % 10 ** (code.length || 6)).padStart(code.length || 6, '0');
}

/** Submits different wrong codes, and asserts that each is rejected. */
export async function sendWrongCodes(
  visitor: Browser,
  page: Page,
  { code, times }: { code: string; times: number },
): Promise<void> {
  for (let offset = 1; offset <= times; offset += 1)
    expectPage(await visitor.submit(page, VERIFY, { code: wrongCode(code, offset) }), 400);
}

/** Asserts the consent page, which only a signed-in user sees. */
export function expectConsentPage(page: Page): void {
  expectPage(page, 200);
  expect(page.html).toContain('name="decision"');
}

/** The status and the text of a page, without its tokens and without the phone. */
export function withoutSecrets({ status, html }: Page, phone: string): string {
  const text = html.replaceAll(/txn_\w+|name="token" value="[^"]*"/g, '');
  return `${status} ${text.replaceAll(phone, '').replaceAll(formatPhone(phone), '')}`;
}
