import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { type Page, Browser } from '../../support/browser.js';
import type { TestApp } from '../../support/test-app.js';
import type { Apps, TestedServer } from './tested-server.js';

const DECISION = '/oauth/authorize/decision';
const SECOND = 1000;

/** Registers the apps of the comparison with our server. */
export async function registerApps(app: TestApp): Promise<Apps> {
  return {
    garden: await app.addClient({ redirectUris: ['https://garden.example/callback'] }),
    library: await app.addClient({
      name: 'Library',
      redirectUris: ['https://library.example/callback?branch=north'],
    }),
    pocket: await app.addClient({
      name: 'Pocket',
      kind: 'public',
      redirectUris: ['http://127.0.0.1/callback', 'com.example.pocket:/callback'],
      scope: 'profile.read posts.read',
    }),
  };
}

/** Our server. `decide` uses one browser, whose user signs in by phone once and stays signed in. */
export function ourServer(app: TestApp, apps: Apps, user: UserWithPhone): TestedServer {
  const browser = new Browser(app);
  return {
    baseUrl: app.baseUrl,
    apps,
    fetch: (path, init) => app.fetch(path, init),
    async decide(link, decision) {
      const page = await browser.open(link);
      const consent = page.html.includes(DECISION) ? page : await browser.signIn(link, user);
      const scope = new URL(link, app.baseUrl).searchParams.get('scope')?.split(' ') ?? [];
      return responseOf(await browser.submit(consent, DECISION, { scope, decision }));
    },
    advance: (seconds) => app.clock.advance(seconds * SECOND),
  };
}

/** Converts a page back to the response that it was read from. */
export function responseOf({ status, headers, html }: Page): Response {
  return new Response(html === '' ? null : html, { status, headers });
}
