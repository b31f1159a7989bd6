import { Auth, type AuthConfig } from '@auth/core';
import { getToken, type JWT } from '@auth/core/jwt';
import type { OAuthConfig } from '@auth/core/providers';
import { onOneEngine } from '../../support/database.js';
import { json } from '../../support/responses.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, settingsOf, statusOfMe } from './decide.js';
import { storeTokens } from './recipes/auth-core-tokens.js';
import type { Settings } from './recipes/settings.js';

const PARTNER = 'https://garden.example';
const CALLBACK = `${PARTNER}/auth/callback/neighbourhood`;
const SECRET = 'the key that encrypts the sessions of the site';
const NO_SESSION = null;

type User = { id: string; name: string; photoUrl: string | null };

/** The provider of examples/libraries/auth-js.js. */
const neighbourhood = (settings: Settings): OAuthConfig<User> => ({
  id: 'neighbourhood',
  name: 'The neighbourhood',
  type: 'oauth',
  issuer: settings.issuer,
  clientId: settings.clientId,
  clientSecret: settings.clientSecret,
  authorization: {
    url: `${settings.issuer}/oauth/authorize`,
    params: { scope: 'profile.read posts.read' },
  },
  token: `${settings.issuer}/oauth/token`,
  userinfo: `${settings.issuer}/dev/v1/me`,
  checks: ['pkce', 'state'],
  profile: ({ id, name, photoUrl }) => ({ id, name, image: photoUrl }),
});

/** A user's browser on a partner site that uses Auth.js. */
class PartnerSite {
  readonly cookies = new Map<string, string>();
  /** The errors that the site logged, with their causes. */
  readonly errors: unknown[] = [];
  private readonly config: AuthConfig;

  constructor(settings: Settings, provider = neighbourhood(settings)) {
    this.config = {
      providers: [provider],
      secret: SECRET,
      trustHost: true,
      basePath: '/auth',
      logger: {
        error: (error) => this.log(error),
        warn: () => {},
        debug: (message, error) => message === 'OAuthCallbackError' && this.errors.push(error),
      },
      ...storeTokens(settings),
    };
  }

  /** Clicks "Sign in" and returns the link to our service. */
  async signIn(): Promise<string> {
    return (await this.submit('/auth/signin/neighbourhood')).headers.get('location') ?? '';
  }

  /** Follows our redirect to the partner. Returns the address that the partner redirects to. */
  async callBack(callbackUrl: URL): Promise<URL> {
    return new URL((await this.open(callbackUrl)).headers.get('location') ?? '');
  }

  async session(): Promise<{ user: { name: string } } | null> {
    return json(await this.open(`${PARTNER}/auth/session`));
  }

  async signOut(): Promise<void> {
    await this.submit('/auth/signout');
  }

  /** The session that the partner's server stores for this browser. */
  storedSession(): Promise<JWT | null> {
    return getToken({ req: this.request(PARTNER), secret: SECRET, secureCookie: true });
  }

  async open(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await Auth(this.request(url, init), this.config);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  private async submit(path: string): Promise<Response> {
    const { csrfToken } = await json<{ csrfToken: string }>(
      await this.open(`${PARTNER}/auth/csrf`),
    );
    return this.open(`${PARTNER}${path}`, {
      method: 'POST',
      body: new URLSearchParams({ csrfToken }),
    });
  }

  private request(url: string | URL, init: RequestInit = {}): Request {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Request(url, { ...init, headers: { cookie } });
  }

  private log(error: unknown): void {
    this.errors.push(error);
    const cause = error instanceof Error ? error.cause : undefined;
    const inner = cause instanceof Error ? cause : (cause as { err?: unknown } | undefined)?.err;
    if (inner instanceof Error) this.log(inner);
  }
}

onOneEngine('Auth.js (@auth/core)', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient({ redirectUris: [CALLBACK] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const settings = (clientSecret = client.secret): Settings => ({
    ...settingsOf(app(), client),
    clientSecret,
  });

  async function signedIn(): Promise<PartnerSite> {
    const site = new PartnerSite(settings());
    await site.callBack(await decide(app(), await site.signIn()));
    return site;
  }

  /** Moves the clock of the partner, but not that of the service, to the expiry of the access token. */
  function anHourLater(): void {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  }

  async function tokenOf(site: PartnerSite, name: 'access_token' | 'refresh_token') {
    return String((await site.storedSession())?.[name]);
  }

  it('O59 O81 signs in with the profile of GET /dev/v1/me and gets a working token', async () => {
    const site = new PartnerSite(settings());
    const link = await site.signIn();
    const { searchParams } = new URL(link);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect((await site.callBack(await decide(app(), link))).href).toBe(`${PARTNER}/`);
    expect(site.errors).toEqual([]);
    expect(await site.session()).toMatchObject({ user: { name: 'Ana Lee' } });
    expect(await statusOfMe(app(), await tokenOf(site, 'access_token'))).toBe(200);
  });

  it('O91 refreshes when the access token expires, and stores both new tokens', async () => {
    const site = await signedIn();
    const first = await site.storedSession();
    await site.session();
    expect(await site.storedSession()).toMatchObject({ access_token: first?.access_token });
    anHourLater();
    await site.session();
    const second = await site.storedSession();
    expect(second?.access_token).not.toBe(first?.access_token);
    expect(second?.refresh_token).not.toBe(first?.refresh_token);
    expect(await statusOfMe(app(), second?.access_token)).toBe(200);
    await site.session();
    expect(await site.storedSession()).toMatchObject({ refresh_token: second?.refresh_token });
  });

  it('O96 keeps the session when two tabs refresh at the same time', async () => {
    const site = await signedIn();
    anHourLater();
    const sessions = await Promise.all([site.session(), site.session()]);
    for (const session of sessions) expect(session).toMatchObject({ user: { name: 'Ana Lee' } });
    expect(await statusOfMe(app(), await tokenOf(site, 'access_token'))).toBe(200);
  });

  it('O68 keeps the session during an outage of the service, and refreshes afterwards', async () => {
    const site = await signedIn();
    const first = await tokenOf(site, 'refresh_token');
    const duringOutage = new PartnerSite({ ...settings(), issuer: 'http://127.0.0.1:1' });
    for (const [name, value] of site.cookies) duringOutage.cookies.set(name, value);
    anHourLater();
    expect(await duringOutage.session()).toMatchObject({ user: { name: 'Ana Lee' } });
    expect(await tokenOf(duringOutage, 'refresh_token')).toBe(first);
    for (const [name, value] of duringOutage.cookies) site.cookies.set(name, value);
    expect(await site.session()).toMatchObject({ user: { name: 'Ana Lee' } });
    expect(await tokenOf(site, 'refresh_token')).not.toBe(first);
  });

  it('O105 revokes the tokens at sign-out, so that a copy of the session cookie cannot be refreshed', async () => {
    const site = await signedIn();
    const cookies = new Map(site.cookies);
    const accessToken = await tokenOf(site, 'access_token');
    await site.signOut();
    expect(site.errors).toEqual([]);
    expect(await site.session()).toBe(NO_SESSION);
    expect(await statusOfMe(app(), accessToken)).toBe(401);
    for (const [name, value] of cookies) site.cookies.set(name, value);
    expect(await site.session()).toMatchObject({ user: { name: 'Ana Lee' } });
    anHourLater();
    expect(await site.session()).toBe(NO_SESSION);
  });

  it('O16 rejects a redirect if its configuration has no issuer, because the redirect contains iss', async () => {
    const site = new PartnerSite(settings(), { ...neighbourhood(settings()), issuer: undefined });
    await site.callBack(await decide(app(), await site.signIn()));
    expect(await site.session()).toBe(NO_SESSION);
    expect(site.errors).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('"iss"') }),
    );
  });

  it('O36 O84 signs nobody in after access_denied or with a wrong secret', async () => {
    for (const [secret, decision, error] of [
      [client.secret, 'deny', { error: 'access_denied' }],
      ['svc_sec_wrong', 'approve', { status: 401 }],
    ] as const) {
      const site = new PartnerSite(settings(secret));
      await site.callBack(await decide(app(), await site.signIn(), { decision }));
      expect(await site.session()).toBe(NO_SESSION);
      expect(site.errors).toContainEqual(expect.objectContaining(error));
    }
  });
});
