import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { LANGUAGES, type Language } from '../../../src/pages/language.js';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';
import { inChromium, SCREENSHOTS } from '../../support/chromium.js';
import { Member, type PostBody } from '../../support/member.js';
import { authorizeLink, exchange } from '../../support/oauth-flow.js';
import { findProgram } from '../../support/programs.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

/*
 * `npm run screenshots`: all pages in all languages, both colours and four widths in `screenshots/`, and those of the documentation in
 * `docs/images`. Look at them after a change of a page or of the style. The tour of the README, `docs/images/tour.webp`, needs `img2webp` of
 * the Debian package `webp`.
 */

const SIZES = [
  { width: 320, height: 568 },
  { width: 375, height: 667 },
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
];
const COLOURS = ['light', 'dark'] as const;
const IMAGES = 'docs/images';

/** The pages of the documentation, by their names in `docs/images`: whether the image is the whole page or the window. */
const DOCUMENTED: Readonly<Record<string, { fullPage: boolean }>> = {
  'sign-in': { fullPage: false },
  consent: { fullPage: false },
  continue: { fullPage: false },
  'connected-apps': { fullPage: true },
};
const DOCUMENTED_WIDTHS = [375, 1280];

const TOUR_WINDOW = { width: 375, height: 667 };
const TOUR_FRAME_MS = 2500;
const img2webp = await findProgram('img2webp');

const LOGO = `<body style="margin:0"><svg viewBox="0 0 56 56" width="112" height="112">
<rect width="56" height="56" fill="#2e7d4f"/><circle cx="28" cy="22" r="13" fill="#fff"/>
<rect x="25" y="30" width="6" height="17" fill="#fff"/></svg>`;

/** Sixty characters, as long as a name may be. */
const LONG = {
  name: 'Verein der Freunde und Nachbarn des Gartens am Alten Bahnhof',
  publisher: 'Verlag der Freunde und Nachbarn des Gartens am Alten Bahnhof',
  redirectUris: ['https://the-garden-share-of-the-old-station.neighbours.garden.example/'],
};
const LONG_MEMBER = 'María de los Ángeles Fernández-Villaverde Gutiérrez de Soto';

const env = {
  NETWORK_NAME: 'Oak Street',
  PRIVACY_URL: 'https://oak.example/privacy',
  SUPPORT_URL: 'https://oak.example/help',
};

inChromium('Screenshots', { env }, (chrome) => {
  const { app } = chrome;
  let logo: Buffer;

  beforeAll(() => mkdir(SCREENSHOTS, { recursive: true }));

  beforeEach(async () => {
    const page = await chrome.newPage({ viewport: { width: 112, height: 112 } });
    await page.setContent(LOGO);
    logo = await page.screenshot();
  });

  /** Takes the page in every size and colour. */
  async function take(page: Page, name: string, language: Language): Promise<void> {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const colorScheme of COLOURS) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate('document.activeElement?.blur(), scrollTo(0, 0)');
        const file = `${name}-${size.width}-${colorScheme}.png`;
        await page.screenshot({ path: join(SCREENSHOTS, `${language}-${file}`), fullPage: true });
        const documented = language === 'en' ? DOCUMENTED[name] : undefined;
        if (documented && DOCUMENTED_WIDTHS.includes(size.width))
          await page.screenshot({ path: join(IMAGES, file), ...documented });
      }
    }
  }

  const gardenShare = (test = false): Promise<TestClient> =>
    app().addClient({
      test,
      name: 'Garden Share',
      publisher: 'Garden Share Ltd',
      isVerified: true,
      homepageUrl: 'https://garden.example',
      privacyUrl: 'https://garden.example/privacy',
      logo,
    });

  async function newContext(
    language: Language,
    options: BrowserContextOptions = {},
  ): Promise<BrowserContext> {
    const context = await chrome.newContext({ locale: language, timezoneId: 'UTC', ...options });
    await context.route(/^https:\/\/[\w.-]+\.example\//, (route) =>
      route.fulfill({ body: 'Back' }),
    );
    return context;
  }

  it.each(LANGUAGES)(
    'of the sign-in and the consent, in "%s"',
    { timeout: 300_000 },
    async (language) => {
      const words = CATALOGUES[language];
      const user = await app().addUser({ name: 'Ben Okafor' });
      const client = await gardenShare();
      const page = await (await newContext(language)).newPage();
      const shoot = (name: string): Promise<void> => take(page, name, language);
      await chrome.open(page, authorizeLink(client));
      await shoot('sign-in');
      await page.getByLabel(words.phone.label).fill('nobody');
      await page.getByRole('button', { name: words.phone.send }).click();
      await page.locator('#phone-error').waitFor();
      await shoot('sign-in-error');
      const code = await chrome.requestCode(page, user, words);
      await page.getByLabel(words.code.label).waitFor();
      await shoot('code');
      await page.getByLabel(words.code.label).fill('000000');
      await page.getByRole('button', { name: words.code.submit }).click();
      await page.locator('#code-error').waitFor();
      await shoot('code-error');
      await page.getByLabel(words.code.label).fill(code);
      await page.getByRole('button', { name: words.code.submit }).click();
      await page.getByText(words.consent.details).waitFor();
      await shoot('consent');
      await page.getByText(words.consent.details).click();
      await shoot('consent-details');
      await page.getByRole('button', { name: words.consent.allow }).click();
      await page.waitForURL(/\?code=/);
      await chrome.open(page, authorizeLink(client));
      await shoot('continue');
      await chrome.open(page, '/oauth/authorize');
      await shoot('error');
    },
  );

  it.skipIf(img2webp === undefined)(
    `of the tour${img2webp === undefined ? ' (skipped: img2webp of the package "webp" is not installed)' : ''}`,
    async () => {
      const words = CATALOGUES.en;
      // As the first run of the README, in test mode.
      const code = '424242';
      const ben = { name: 'Ben Okafor', phone: '+14155550123', neighborhood: 'Riverside' };
      const user = await app().addUser({ ...ben, testCode: code });
      const client = await gardenShare(true);
      const context = await newContext('en', { viewport: TOUR_WINDOW, deviceScaleFactor: 2 });
      const page = await context.newPage();
      const frames: string[] = [];
      async function addFrame(): Promise<void> {
        const path = join(SCREENSHOTS, `tour-${frames.length + 1}.png`);
        await page.screenshot({ path });
        frames.push(path);
      }
      await chrome.open(page, authorizeLink(client));
      await page.getByLabel(words.phone.label).fill(user.phone);
      await addFrame();
      await page.getByRole('button', { name: words.code.submit }).click();
      await page.getByLabel(words.code.label).fill(code);
      await addFrame();
      await page.getByRole('button', { name: words.code.submit }).click();
      await page.getByText(words.consent.details).waitFor();
      await addFrame();
      await page.locator('[value="analytics.read"]').uncheck();
      await addFrame();
      await page.getByRole('button', { name: words.consent.allow }).click();
      await page.waitForURL(/\?code=/);
      const answer = await exchange(
        app(),
        client,
        new URL(page.url()).searchParams.get('code') ?? '',
      );
      const { access_token: token } = await json<TokenBody>(answer);
      const post = {
        title: 'Plums to share',
        content: 'Take as many as you like.',
        tags: ['plums'],
      };
      const response = await app().call(token, 'POST', '/posts', post);
      await page.goto((await json<PostBody>(response)).permalink);
      await addFrame();
      const tour = ['-lossless', '-min_size', '-d', String(TOUR_FRAME_MS), ...frames];
      await promisify(execFile)(img2webp ?? '', [...tour, '-o', join(IMAGES, 'tour.webp')]);
    },
  );

  it.each(LANGUAGES)('with long names, in "%s"', { timeout: 300_000 }, async (language) => {
    const words = CATALOGUES[language];
    const user = await app().addUser({ name: LONG_MEMBER });
    const client = await app().addClient(LONG);
    const page = await (await newContext(language)).newPage();
    await chrome.open(page, authorizeLink(client));
    await take(page, 'sign-in-long', language);
    await chrome.signIn(page, user, words);
    await page.getByText(words.consent.details).waitFor();
    await take(page, 'consent-long', language);
    await page.getByRole('button', { name: words.consent.allow }).click();
    await page.waitForURL(/[?&]code=/);
    await chrome.open(page, authorizeLink(client));
    await take(page, 'continue-long', language);
    await page.getByText(words.consent.names, { exact: true }).click();
    await take(page, 'continue-long-names', language);
    await chrome.open(page, '/account/apps');
    await take(page, 'connected-apps-long', language);
  });

  it.each(LANGUAGES)(
    'of the account and the public pages, in "%s"',
    { timeout: 300_000 },
    async (language) => {
      const words = CATALOGUES[language];
      const user = await app().addUser({ name: 'Ben Okafor', neighborhood: 'Riverside' });
      const client = await gardenShare();
      const store = await app().addClient({ name: 'Corner Store', publisher: 'Corner Store Inc.' });
      await app().accessToken(user, store, ['profile.read', 'posts.read']);
      const member = await Member.join(app(), { user, client });
      const page = await (await newContext(language)).newPage();
      await chrome.open(page, '/account/apps');
      await take(page, 'account-sign-in', language);
      app().clock.advance(120_000);
      await chrome.open(page, '/account/apps');
      await chrome.signIn(page, user, words);
      await page.getByText(words.apps.some).waitFor();
      await take(page, 'connected-apps', language);
      await page.getByRole('link', { name: words.apps.disconnect }).first().click();
      await page.getByText(words.apps.disconnectHint).waitFor();
      await take(page, 'connected-app', language);
      const { permalink } = await member.publish({
        title: 'Block party',
        content: 'Bring a chair.\n\nAnd a friend.',
        tags: ['party'],
        images: ['https://images.example/party.jpg'],
      });
      await page.goto(permalink);
      await take(page, 'post', language);
      for (const [name, path] of [
        ['landing', '/'],
        ['not-found', '/nope'],
        ['error-codes', '/docs/errors'],
        ['guide', '/docs/guide'],
      ] as const) {
        await chrome.open(page, path);
        await take(page, name, language);
      }
    },
  );
});
