import { PAGES } from '../../../tools/guide.js';
import { byExtent, IS_QUICK } from '../../suite.js';
import {
  contextOptions,
  expectAccessible,
  inChromium,
  type Preferences,
} from '../../support/chromium.js';

const COLOURS = (['dark', 'light', 'forced'] as const).slice(0, byExtent({ whole: 3, quick: 1 }));
const SLUGS = PAGES.map(({ slug }) => slug).filter(
  (slug) => !IS_QUICK || ['lists', 'changes'].includes(slug),
);
const CASES = COLOURS.flatMap((colours) => SLUGS.map((slug) => ({ slug, colours })));
const LISTS = '/docs/guide/lists';

inChromium('Developer guide', {}, (chrome) => {
  const url = (path: string): string => new URL(path, chrome.app().baseUrl).href;

  it.each(CASES)(
    '$slug is accessible in $colours colours',
    async ({ slug, colours }) => {
      const preferences: Preferences = { colours, language: 'en' };
      const context = await chrome.newContext(contextOptions(preferences));
      const page = await context.newPage();
      await page.goto(url(slug === 'README' ? '/docs/guide' : `/docs/guide/${slug}`));
      await expectAccessible(page, `guide-${slug}`, preferences);
      expect(chrome.consoleErrors).toEqual([]);
    },
    120_000,
  );

  it('shows the selected language without a script', async () => {
    const context = await chrome.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(url(LISTS));
    expect(await page.getByText('curl -sS').isVisible()).toBe(true);
    await page.getByText('Python', { exact: true }).click();
    expect(await page.getByText('def all_posts').isVisible()).toBe(true);
    expect(await page.getByText('curl -sS').isVisible()).toBe(false);
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('selects tabs with the keyboard, and remembers the language on other pages', async () => {
    const page = await chrome.newPage();
    await page.goto(url(LISTS));
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.goto(url('/docs/guide/errors'));
    expect(await page.getByRole('radio', { name: 'Python' }).isChecked()).toBe(true);
    expect(await page.getByText('except HTTPError').isVisible()).toBe(true);
    expect(chrome.consoleErrors).toEqual([]);
  });

  it('copies the visible example', async () => {
    const context = await chrome.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await page.goto(url(LISTS));
    await page.getByText('Ruby', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(/^require 'json'\n/);
    expect(copied).toContain('def each_post');
  });

  it('reports when the browser does not let it copy', async () => {
    const page = await chrome.newPage();
    await page.addInitScript(
      "navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
    );
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(url('/docs/guide/recipes'));
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copy failed' }).waitFor({ timeout: 1500 });
    expect(errors).toEqual([]);
  });
});
