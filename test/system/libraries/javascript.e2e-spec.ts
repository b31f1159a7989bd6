import { installPackages } from '../../../tools/packages.js';
import { onOneEngine } from '../../support/database.js';
import { useTestApp } from '../../support/test-app.js';
import { opening, type Recipe, testRecipes } from './flows.js';
import type { PartnerBrowser } from './partner-browser.js';
import { FOLDER } from './recipe-process.js';

/** Submits the sign-in form of Auth.js and of NextAuth.js. */
const submitting = (path: string) => async (browser: PartnerBrowser) => {
  const { csrfToken } = (await (await browser.open(`${path}/csrf`)).json()) as Record<
    string,
    string
  >;
  const body = new URLSearchParams({ csrfToken: csrfToken ?? '' });
  const init = { method: 'POST', body };
  const response = await browser.open(`${path}/signin/neighbourhood`, init);
  return response.headers.get('location') ?? '';
};

/** Calls the sign-in endpoint of better-auth, as its client for browsers does. */
async function callBetterAuth(browser: PartnerBrowser): Promise<string> {
  const response = await browser.open('/api/auth/sign-in/social', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ provider: 'neighbourhood', callbackURL: '/' }),
  });
  return ((await response.json()) as { url: string }).url;
}

const login = { callbackPath: '/callback', signIn: opening('/login') };

const RECIPES: Recipe[] = [
  { file: 'openid-client.js', checksIssuer: true },
  { file: 'badgateway-oauth2-client.js' },
  { file: 'mcp-sdk.js' },
  { file: 'mcp-client.js', checksIssuer: true },
  { file: 'oidc-client-ts.js', kind: 'public' },
  // The recipe is not a program.
  { file: 'zapier.js', run: ['../../test/system/libraries/zapier-host.js'] },
  { file: 'openid-client-passport.js', checksIssuer: true, site: login },
  { file: 'passport-oauth2.js', site: login },
  { file: 'fastify-oauth2.js', site: login },
  {
    file: 'grant.js',
    site: {
      callbackPath: '/connect/neighbourhood/callback',
      signIn: opening('/connect/neighbourhood'),
    },
  },
  {
    file: 'auth-js.js',
    checksIssuer: true,
    site: {
      callbackPath: '/auth/callback/neighbourhood',
      signIn: submitting('/auth'),
      profilePath: '/auth/session',
    },
  },
  {
    file: 'next-auth.js',
    // The recipe is not a program.
    run: ['../../test/system/libraries/next-auth-host.js'],
    checksIssuer: true,
    site: {
      callbackPath: '/api/auth/callback/neighbourhood',
      signIn: submitting('/api/auth'),
      profilePath: '/api/auth/session',
    },
  },
  {
    file: 'better-auth.js',
    checksIssuer: true,
    site: {
      callbackPath: '/api/auth/callback/neighbourhood',
      signIn: callBetterAuth,
      profilePath: '/api/auth/get-session',
    },
  },
];

onOneEngine('JavaScript recipes', (database) => {
  beforeAll(() => installPackages(FOLDER), 240_000);
  testRecipes(useTestApp(database), RECIPES);
});
