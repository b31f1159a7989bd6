import type { Page } from 'playwright-core';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';
import { LANGUAGES } from '../../../src/pages/language.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { inChromium, tabTo, contextOptions, waitForAllow } from '../../support/chromium.js';

const ENLARGEMENTS = [
  {
    // A screen of 1280 by 1024 pixels (WCAG 2.2, 1.4.10).
    title: 'at 400 % zoom',
    args: [],
    context: { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 },
    fontSize: '16px',
  },
  {
    // A phone whose user doubled the default size of text (WCAG 2.2, 1.4.4).
    title: 'at 200 % text size',
    args: ['--blink-settings=defaultFontSize=32'],
    context: { viewport: { width: 375, height: 667 } },
    fontSize: '32px',
  },
  {
    // The same user with the smallest phone.
    title: 'at 200 % text size, 320 pixels wide',
    args: ['--blink-settings=defaultFontSize=32'],
    context: { viewport: { width: 320, height: 568 } },
    fontSize: '32px',
  },
];

/** In the browser: the controls that cannot be scrolled into view or are covered by another element. */
const UNREACHABLE = `[...document.querySelectorAll('a, button, summary, input:not([type=hidden])')]
  .filter((control) => control.checkVisibility())
  .filter((control) => {
    control.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { left, right, top, bottom, width, height } = control.getBoundingClientRect();
    const inside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return !inside || !(control.contains(hit) || hit?.contains(control));
  })
  .map((control) => control.outerHTML)`;

/** In the browser: whether the focused element is completely visible. A page scrolls by whole pixels. */
const IS_FOCUS_VISIBLE = `(() => {
  const { left, right, top, bottom } = document.activeElement.getBoundingClientRect();
  return left > -1 && right < innerWidth + 1 && top > -1 && bottom < innerHeight + 1;
})()`;

describe.each(ENLARGEMENTS)('Pages $title', ({ args, context: enlarged, fontSize }) =>
  inChromium('in a browser', { args }, (chrome) => {
    const { app } = chrome;

    async function expectUsable(page: Page): Promise<void> {
      expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe(
        fontSize,
      );
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(
        enlarged.viewport.width,
      );
      expect(await page.evaluate(UNREACHABLE)).toEqual([]);
    }

    async function tabToVisible(page: Page, selector: string): Promise<void> {
      await tabTo(page, selector);
      const isVisible = await page.evaluate(IS_FOCUS_VISIBLE);
      expect({ selector, isVisible }).toEqual({ selector, isVisible: true });
    }

    it.each(LANGUAGES)(
      'C143 allow a sign-in and a decision by keyboard, and can show every control completely, in "%s"',
      async (language) => {
        const words = CATALOGUES[language];
        const user = await app().addUser({ name: 'Ana Lee' });
        const client = await app().addClient({ redirectUris: [app().pageOnOtherHost('/livez')] });
        const context = await chrome.newContext({
          ...contextOptions({ colours: 'light', language }),
          ...enlarged,
        });
        const page = await context.newPage();
        await chrome.open(page, authorizeLink(client));
        await expectUsable(page);
        await tabToVisible(page, '[name=phone]');
        await page.keyboard.type(user.phone);
        await tabToVisible(page, 'form[action$="/sign-in"] button');
        await page.keyboard.press('Enter');
        await page.waitForSelector('[name=code]');
        await expectUsable(page);
        await page.focus('[name=code]');
        await page.keyboard.type(await app().sms.password(user.phone));
        await tabToVisible(page, 'form[action$="/verify"] button');
        await page.keyboard.press('Enter');
        await page.getByText(words.consent.details).waitFor();
        await expectUsable(page);
        await tabToVisible(page, '[value="posts.write"]');
        await page.keyboard.press('Space');
        await tabToVisible(page, '[value=deny]');
        await tabToVisible(page, '[value=approve]');
        await waitForAllow(page);
        await page.keyboard.press('Enter');
        await page.waitForURL(/\/livez\?code=/);
      },
    );

    it.each(LANGUAGES)(
      'C143 allow the removal of an app by keyboard, and can show every control completely, in "%s"',
      async (language) => {
        const words = CATALOGUES[language];
        const user = await app().addUser({ name: 'Ana Lee' });
        for (const name of ['Garden Share', 'Corner Store'])
          await app().accessToken(user, await app().addClient({ name }));
        const page = await chrome.newPage({
          ...contextOptions({ colours: 'light', language }),
          ...enlarged,
        });
        await chrome.open(page, '/account/apps');
        await expectUsable(page);
        await chrome.signIn(page, user, words);
        await page.getByText(words.apps.some).waitFor();
        await expectUsable(page);
        await tabToVisible(page, 'summary');
        await page.keyboard.press('Enter');
        await expectUsable(page);
        // The links are before the focused element, and `tabTo` only moves forward.
        await page.focus('.rows a');
        await page.keyboard.press('Enter');
        await page.getByText(words.apps.disconnectHint).waitFor();
        await expectUsable(page);
        await tabToVisible(page, '.danger');
        await page.keyboard.press('Enter');
        await page.getByText(words.apps.disconnected('Corner Store')).waitFor();
        await expectUsable(page);
      },
    );
  }),
);
