import { installPackages } from '../../../tools/packages.js';
import { onOneEngine } from '../../support/database.js';
import { useTestApp } from '../../support/test-app.js';
import { IS_QUICK } from '../../suite.js';
import {
  denied,
  NO_PROFILE,
  opening,
  otherIssuer,
  otherState,
  runInTerminal,
  signInToSite,
  type SiteRecipe,
  USER,
} from './flows.js';
import type { PartnerBrowser } from './partner-browser.js';
import { FOLDER } from './recipe-process.js';

const TERMINAL: { file: string; kind?: 'public'; checksIssuer?: boolean }[] = [
  { file: 'openid-client.js', checksIssuer: true },
  { file: 'badgateway-oauth2-client.js' },
  { file: 'mcp-sdk.js' },
  { file: 'oidc-client-ts.js', kind: 'public' },
];

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

interface Site extends Omit<SiteRecipe, 'command'> {
  file: string;
  /** If the recipe is not a program, the program that runs it. */
  host?: string;
  /** Whether the library compares `iss`. */
  checksIssuer?: boolean;
}

const SITES: Site[] = [
  {
    file: 'openid-client-passport.js',
    checksIssuer: true,
    callbackPath: '/callback',
    signIn: opening('/login'),
  },
  { file: 'passport-oauth2.js', callbackPath: '/callback', signIn: opening('/login') },
  { file: 'fastify-oauth2.js', callbackPath: '/callback', signIn: opening('/login') },
  {
    file: 'grant.js',
    callbackPath: '/connect/neighbourhood/callback',
    signIn: opening('/connect/neighbourhood'),
  },
  {
    file: 'auth-js.js',
    checksIssuer: true,
    callbackPath: '/auth/callback/neighbourhood',
    signIn: submitting('/auth'),
    profilePath: '/auth/session',
  },
  {
    file: 'next-auth.js',
    host: '../../test/system/libraries/next-auth-host.js',
    checksIssuer: true,
    callbackPath: '/api/auth/callback/neighbourhood',
    signIn: submitting('/api/auth'),
    profilePath: '/api/auth/session',
  },
  {
    file: 'better-auth.js',
    checksIssuer: true,
    callbackPath: '/api/auth/callback/neighbourhood',
    signIn: callBetterAuth,
    profilePath: '/api/auth/get-session',
  },
];

const checksIssuer = (recipe: { checksIssuer?: boolean }): boolean => recipe.checksIssuer ?? false;

const asSite = ({ file, host, ...recipe }: Site): SiteRecipe => ({
  ...recipe,
  command: ['node', host ?? file],
});

onOneEngine('JavaScript recipes', (database) => {
  beforeAll(() => installPackages(FOLDER), 240_000);
  const app = useTestApp(database);

  it.each(TERMINAL)('$file completes the flow and reads the profile', async ({ file, kind }) => {
    const output = await runInTerminal(app(), ['node', file], { kind });
    expect(output).toContain(USER);
  });

  it.each(SITES)('$file completes the flow and reads the profile', async (recipe) => {
    expect(await signInToSite(app(), asSite(recipe))).toContain(USER);
  });

  it.skipIf(IS_QUICK).each(TERMINAL)('$file ends after a denial', async ({ file, kind }) => {
    const run = runInTerminal(app(), ['node', file], { kind, change: denied });
    await expect(run).rejects.toThrow('exited with 1:');
  });

  describe.skipIf(IS_QUICK)('attacked', () => {
    it.each(TERMINAL)('$file rejects another state', async ({ file, kind }) => {
      const run = runInTerminal(app(), ['node', file], { kind, change: otherState });
      await expect(run).rejects.toThrow('exited with 1');
    });

    it.each(SITES)('$file rejects another state', async (recipe) => {
      await expect(signInToSite(app(), asSite(recipe), otherState)).rejects.toThrow(NO_PROFILE);
    });

    it.each(TERMINAL.filter(checksIssuer))('$file rejects another iss', async ({ file, kind }) => {
      const run = runInTerminal(app(), ['node', file], { kind, change: otherIssuer });
      await expect(run).rejects.toThrow('exited with 1');
    });

    it.each(SITES.filter(checksIssuer))('$file rejects another iss', async (recipe) => {
      await expect(signInToSite(app(), asSite(recipe), otherIssuer)).rejects.toThrow(NO_PROFILE);
    });
  });
});
