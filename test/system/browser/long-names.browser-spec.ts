import type { Page } from 'playwright-core';
import { LANGUAGES, type Language } from '../../../src/pages/language.js';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';
import { contextOptions, inChromium } from '../../support/chromium.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import type { TestClient } from '../../support/test-app.js';

const SIZES = [
  [320, 568],
  [360, 740],
  [375, 812],
  [390, 844],
  [1280, 720],
] as const;

/** Sixty characters each: one with spaces, one of a single word, and a host. */
const APP_NAME = 'Verein der Freunde und Nachbarn des Gartens am Alten Bahnhof';
const LONG_WORD = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunte';
const MEMBER_NAME = 'María de los Ángeles Fernández-Villaverde Gutiérrez de Soto';
const HOST = 'the-garden-share-of-the-old-station.neighbours.garden.example';

const FONT_SIZES = [16, 32];

/** A part of the page, in pixels from its top. */
interface Place {
  top: number;
  bottom: number;
}

/**
 * In the browser: the places of the permissions and of the first button, and pairs of texts that overlap. Texts in one line may touch
 * by less than a pixel.
 */
const MEASURE = `(() => {
  const place = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return { top: top + scrollY, bottom: bottom + scrollY };
  };
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (node.data.trim() === '' || !node.parentElement.checkVisibility()) continue;
    if (node.parentElement.closest('.visually-hidden, summary')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // Cut texts are measured by the box that cuts them.
    const cut = node.parentElement.closest('.brief :is(h1 bdi, legend bdi, .app .hint, .chip strong)');
    const rects = (cut ?? range).getClientRects();
    texts.push(...[...rects].map((rect) => ({ owner: cut ?? node, rect })));
  }
  const common = (one, other) => [
    Math.min(one.right, other.right) - Math.max(one.left, other.left),
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top),
  ];
  const overlaps = texts.flatMap((one, index) => texts.slice(index + 1)
    .filter((other) => {
      const [width, height] = common(one.rect, other.rect);
      return one.owner !== other.owner && width > 1 && height > 4;
    })
    .map((other) => one.owner.textContent + ' | ' + other.owner.textContent));
  return {
    width: document.documentElement.scrollWidth,
    permissions: [...document.querySelectorAll('form li')].map(place),
    button: place(document.querySelector('[value=approve]')),
    overlaps,
  };
})()`;

interface Measurement {
  width: number;
  permissions: Place[];
  button: Place;
  overlaps: string[];
}

describe.each(FONT_SIZES)('Names of 60 characters, with text of %i px', (fontSize) =>
  inChromium(
    'in a browser',
    { args: [`--blink-settings=defaultFontSize=${fontSize}`] },
    (chrome) => {
      const { app } = chrome;
      const addClient = (name: string): Promise<TestClient> =>
        app().addClient({
          name,
          publisher: name.replace('Verein', 'Verlag'),
          redirectUris: [`https://${HOST}/callback`],
        });

      const measure = (page: Page): Promise<Measurement> => page.evaluate<Measurement>(MEASURE);

      async function expectOrder(page: Page, width: number, height: number): Promise<void> {
        const { permissions, button, overlaps, ...measured } = await measure(page);
        expect({ width: measured.width, overlaps }).toEqual({ width, overlaps: [] });
        expect(permissions.length).toBe(4);
        // A button that is in sight has all permissions above it.
        for (const { bottom } of permissions) expect(bottom).toBeLessThanOrEqual(button.top);
        if (fontSize > 16 || width < 375) return;
        // The last permission is in sight when the page opens.
        expect(permissions.at(-1)?.bottom).toBeLessThanOrEqual(height);
      }

      async function openBoth(
        page: Page,
        client: TestClient,
        language: Language,
      ): Promise<() => Promise<void>> {
        await page.route(`https://${HOST}/**`, (route) =>
          route.fulfill({ body: 'Back at the app' }),
        );
        await chrome.open(page, authorizeLink(client));
        await chrome.signIn(page, await app().addUser({ name: MEMBER_NAME }), CATALOGUES[language]);
        await page.getByText(CATALOGUES[language].consent.details).waitFor();
        return async () => {
          await page.getByRole('button', { name: CATALOGUES[language].consent.allow }).click();
          await page.waitForURL(/\?code=/);
          await chrome.open(page, authorizeLink(client));
          await page.getByText(CATALOGUES[language].repeatedConsent.permissions).waitFor();
        };
      }

      it.each(LANGUAGES)(
        'O26 leave the permissions in sight before the buttons, and cover nothing, in "%s"',
        async (language) => {
          for (const name of [APP_NAME, LONG_WORD]) {
            const page = await chrome.newPage(contextOptions({ colours: 'light', language }));
            const repeat = await openBoth(page, await addClient(name), language);
            for (const [width, height] of SIZES) {
              await page.setViewportSize({ width, height });
              await expectOrder(page, width, height);
            }
            await repeat();
            for (const [width, height] of SIZES) {
              await page.setViewportSize({ width, height });
              await expectOrder(page, width, height);
              if (fontSize > 16 || width < 375) continue;
              const { button } = await measure(page);
              expect(button.bottom).toBeLessThanOrEqual(height);
            }
            await page.context().close();
          }
        },
        60_000,
      );
    },
  ),
);
