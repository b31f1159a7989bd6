import { execFileSync } from 'node:child_process';
import { IS_QUICK } from '../../suite.js';
import { decide, forged } from '../clients/decide.js';
import { freePort } from '../../support/free-port.js';
import type { TestApp } from '../../support/test-app.js';
import type { Registration } from '../../../src/modules/oauth/clients/apps.service.js';
import { PartnerBrowser } from './partner-browser.js';
import { RecipeProcess } from './recipe-process.js';

/** The name of the user, which a recipe shows if its call of `GET /dev/v1/me` succeeds. */
const USER = 'Ana Lee';

const NO_PROFILE = 'The site does not show the profile';
/** How a recipe reports that it rejects a redirect. */
const REJECTION = new RegExp(`${NO_PROFILE}|exited with [1-9]`);

/** How the recipe of a web site is used. */
interface SiteRecipe {
  /** `{port}` stands for the port that it must listen on, which `PORT` names, too. */
  command: string[];
  /** The path of the redirect URI. */
  callbackPath: string;
  /** Starts the sign-in. Returns the link to the service. */
  signIn(browser: PartnerBrowser): Promise<string>;
  /** If the redirect URI does not show the profile itself, the path that does. */
  profilePath?: string;
  env?: Record<string, string>;
}

/** Changes the address of the redirect, as an attacker would. */
type Change = (callbackUrl: URL) => URL;

const unchanged: Change = (callbackUrl) => callbackUrl;

const otherState: Change = (url) => forged(url, 'state', 'another');
const otherIssuer: Change = (url) => forged(url, 'iss', 'https://evil.example');

/** A redirect after the user declined. */
const denied: Change = (url) => {
  const callbackUrl = forged(url, 'error', 'access_denied');
  callbackUrl.searchParams.delete('code');
  return callbackUrl;
};

/** What a recipe needs on this machine. */
export interface Installed {
  /** The first of these interpreters that can load the library. */
  interpreters: string[];
  /** Parameters of a command that fails without the library. */
  probe: string[];
  env?: Record<string, string>;
  /** What to install. */
  install: string;
}

/**
 * A recipe of examples/libraries: a web site if it has `site`, else a program that prints a link and then reads an address, or listens
 * for the redirect.
 */
export interface Recipe {
  file: string;
  /** By default Node.js, with the packages of the recipes. */
  needs?: Installed;
  /** The parameters of the interpreter; by default `file`. `{port}` stands for the port of a site. */
  run?: string[];
  kind?: Registration['kind'];
  env?: Record<string, string>;
  /** Whether the library compares `iss`. */
  checksIssuer?: boolean;
  site?: Omit<SiteRecipe, 'command' | 'env'>;
  /** What it prints when it listens for the redirect, on the port of `PORT`. */
  listening?: RegExp;
}

type Skip = (note: string) => never;

function commandOf({ file, needs, run = [file] }: Recipe, skip: Skip): string[] {
  if (!needs) return ['node', ...run];
  const { interpreters, probe, env, install } = needs;
  const interpreter = interpreters.find((program) => {
    try {
      execFileSync(program, probe, { stdio: 'ignore', env: { ...process.env, ...env } });
      return true;
    } catch {
      return false;
    }
  });
  return [interpreter ?? skip(`The recipe needs ${install}.`), ...run];
}

/** Runs the flow with a recipe. Returns what it shows. @throws if it does not show the profile */
async function runRecipe(
  app: TestApp,
  recipe: Recipe,
  skip: Skip,
  change?: Change,
): Promise<string> {
  const command = commandOf(recipe, skip);
  const { env, kind, site, listening } = recipe;
  return site
    ? signInToSite(app, { ...site, env, command }, change)
    : runInTerminal(app, command, { env, kind, change, listening });
}

/** Defines the tests of recipes. */
export function testRecipes(app: () => TestApp, recipes: readonly Recipe[]): void {
  it.for(recipes)('$file completes the flow and reads the profile', async (recipe, { skip }) => {
    expect(await runRecipe(app(), recipe, skip)).toContain(USER);
  });

  describe.skipIf(IS_QUICK)('attacked', () => {
    it.for(recipes)('$file rejects another state', async (recipe, { skip }) => {
      await expect(runRecipe(app(), recipe, skip, otherState)).rejects.toThrow(REJECTION);
    });

    const comparing = recipes.filter(({ checksIssuer }) => checksIssuer);
    it.for(comparing)('$file rejects another iss', async (recipe, { skip }) => {
      await expect(runRecipe(app(), recipe, skip, otherIssuer)).rejects.toThrow(REJECTION);
    });

    const programs = recipes.filter(({ needs, site }) => !needs && !site);
    it.for(programs)('$file ends after a denial', async (recipe, { skip }) => {
      await expect(runRecipe(app(), recipe, skip, denied)).rejects.toThrow('exited with 1:');
    });

    const foreign = recipes.filter(({ needs, site }) => needs && site);
    it.for(foreign)('$file rejects the redirect of another browser', async (recipe, { skip }) => {
      const { env, site } = recipe;
      if (!site) throw new Error('The recipe is no site.');
      const command = commandOf(recipe, skip);
      expect(await openInOtherBrowser(app(), { ...site, env, command })).not.toContain(USER);
    });
  });
}

interface TerminalOptions {
  kind?: Registration['kind'];
  env?: Record<string, string>;
  change?: Change;
  listening?: RegExp;
}

/** Runs a recipe that prints a link and gets the address of the redirect. Returns its output. @throws if it fails */
async function runInTerminal(
  app: TestApp,
  command: string[],
  { env = {}, kind = 'confidential', change = unchanged, listening }: TerminalOptions = {},
): Promise<string> {
  const port = listening ? await freePort() : 8765;
  const redirectUri = `http://127.0.0.1:${port}/${listening ? '' : 'callback'}`;
  const program = await start(app, command, redirectUri, { PORT: String(port), ...env }, kind);
  try {
    const link = await program.printedMatch(/http\S+\/oauth\/authorize\?\S+/);
    const { href } = change(await decide(app, link));
    if (!listening) return await program.answer(href);
    await program.printedMatch(listening);
    await fetch(href);
    return await program.answer('');
  } finally {
    await program.stop();
  }
}

/** Runs a recipe that is a web site, and signs in there. Returns the page with the profile. @throws if there is none */
async function signInToSite(
  app: TestApp,
  recipe: SiteRecipe,
  change: Change = unchanged,
): Promise<string> {
  return withSite(app, recipe, async (site, program) => {
    const browser = new PartnerBrowser(site);
    const callbackUrl = change(await decide(app, await recipe.signIn(browser)));
    const shown = await browser.text(callbackUrl);
    const page = recipe.profilePath === undefined ? shown : await browser.text(recipe.profilePath);
    if (!page.includes(USER)) throw new Error(`${NO_PROFILE}:\n${page}\n${program.output}`);
    return page;
  });
}

/**
 * An attacker makes another browser, which has no session, open the redirect of the attacker's request. Returns the page. The request has
 * no PKCE and the redirect no `state`, so that only the recipe can reject it.
 */
async function openInOtherBrowser(app: TestApp, recipe: SiteRecipe): Promise<string> {
  return withSite(app, recipe, async (site) => {
    const link = new URL(await recipe.signIn(new PartnerBrowser(site)));
    link.searchParams.delete('code_challenge');
    link.searchParams.delete('code_challenge_method');
    const callbackUrl = await decide(app, link.href);
    callbackUrl.searchParams.delete('state');
    if (!callbackUrl.searchParams.has('code')) throw new Error('The redirect has no code.');
    return new PartnerBrowser(site).text(callbackUrl);
  });
}

async function withSite<T>(
  app: TestApp,
  recipe: SiteRecipe,
  use: (site: string, program: RecipeProcess) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const site = `http://127.0.0.1:${port}`;
  const env = {
    PORT: String(port),
    FLASK_RUN_PORT: String(port),
    // Each library takes only those that its documentation names.
    SESSION_SECRET: SECRET,
    AUTH_SECRET: SECRET,
    AUTH_TRUST_HOST: 'true',
    NEXTAUTH_SECRET: SECRET,
    NEXTAUTH_URL: site,
    BETTER_AUTH_SECRET: SECRET,
    BETTER_AUTH_URL: site,
    ...recipe.env,
  };
  const command = recipe.command.map((part) => part.replace('{port}', String(port)));
  const program = await start(app, command, `${site}${recipe.callbackPath}`, env);
  try {
    await program.listening(site);
    return await use(site, program);
  } finally {
    await program.stop();
  }
}

const SECRET = 'a secret of 32 characters or more';

async function start(
  app: TestApp,
  command: string[],
  redirectUri: string,
  env: Record<string, string>,
  kind: Registration['kind'] = 'confidential',
): Promise<RecipeProcess> {
  const client = await app.addClient({ redirectUris: [redirectUri], kind });
  return RecipeProcess.start(command, {
    ISSUER: app.baseUrl,
    CLIENT_ID: client.clientId,
    ...(client.secret !== undefined && { CLIENT_SECRET: client.secret }),
    REDIRECT_URI: redirectUri,
    ...env,
  });
}

/** Opens a page of the site that redirects to the service. */
export const opening =
  (path: string) =>
  async (browser: PartnerBrowser): Promise<string> => {
    const response = await browser.open(path);
    const link = response.headers.get('location');
    if (link === null) throw new Error(`${path} does not redirect:\n${await response.text()}`);
    return link;
  };
