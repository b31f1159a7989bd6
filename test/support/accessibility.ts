import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { SCREENSHOTS } from './chromium.js';

const VIEWPORTS = [
  { width: 320, height: 640 },
  { width: 1280, height: 800 },
];

/** The colours that every page is inspected in. Forced ones are those of Windows' high contrast. */
export const COLOURS = ['light', 'dark', 'forced'] as const;

/** Of a browser whose user wants these colours. */
export function wanting(colours: (typeof COLOURS)[number]): BrowserContextOptions {
  return {
    colorScheme: colours === 'dark' ? 'dark' : 'light',
    forcedColors: colours === 'forced' ? 'active' : 'none',
  };
}

/**
 * Expects that axe finds nothing on the page and that it needs no sideways scrolling, 320 pixels wide (WCAG 2.2, 1.4.10) and
 * at a usual width. Takes a picture of both.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(`${axe.source}; undefined`);
  const faults = [];
  for (const viewport of VIEWPORTS) {
    await page.setViewportSize(viewport);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > viewport.width) faults.push(`${width} pixels wide in ${viewport.width}`);
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
    faults.push(...violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`));
    const path = join(SCREENSHOTS, `${name}-${viewport.width}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  expect({ name, faults }).toEqual({ name, faults: [] });
}
