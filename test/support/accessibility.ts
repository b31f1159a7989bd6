import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Language } from '../../src/pages/language.js';
import { SCREENSHOTS } from './chromium.js';

const VIEWPORTS = [
  { width: 320, height: 640 },
  { width: 1280, height: 800 },
];

/** What a user wants of every page. Forced colours are those of Windows' high contrast. */
export interface Wishes {
  colours: 'light' | 'dark' | 'forced';
  language: Language;
}

/** How every page is inspected: words of any length fit in any colours, so not every pair of the two is looked at. */
export const WISHES: readonly Wishes[] = [
  { colours: 'light', language: 'en' },
  { colours: 'dark', language: 'es' },
  { colours: 'forced', language: 'en' },
];

/** Of a browser whose user wants this. */
export function wanting({ colours, language }: Wishes): BrowserContextOptions {
  return {
    locale: { en: 'en-US', es: 'es-MX' }[language],
    colorScheme: colours === 'dark' ? 'dark' : 'light',
    forcedColors: colours === 'forced' ? 'active' : 'none',
  };
}

/** In the browser: the words of buttons that do not fit and are cut in two. */
const CUT_WORDS = `[...document.querySelectorAll('.button, .plain, summary')]
  .flatMap((button) => [...button.childNodes])
  .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
  .flatMap((node) => [...node.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    return range.getClientRects().length > 1;
  }))
  .map(([word]) => word)`;

/**
 * Expects that axe finds nothing on the page and that it needs no sideways scrolling and cuts no word of a button, 320 pixels
 * wide (WCAG 2.2, 1.4.10) and at a usual width. Takes a picture of both.
 */
export async function expectAccessible(
  page: Page,
  what: string,
  { colours, language }: Wishes,
): Promise<void> {
  const name = `${what}-${language}-${colours}`;
  await page.evaluate(`${axe.source}; undefined`);
  const faults = [];
  for (const viewport of VIEWPORTS) {
    await page.setViewportSize(viewport);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > viewport.width) faults.push(`${width} pixels wide in ${viewport.width}`);
    const cut = await page.evaluate<string[]>(CUT_WORDS);
    faults.push(...cut.map((word) => `"${word}" does not fit its button at ${viewport.width}`));
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
    faults.push(...violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`));
    const path = join(SCREENSHOTS, `${name}-${viewport.width}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  expect({ name, faults }).toEqual({ name, faults: [] });
}
