import { createHash } from 'node:crypto';
import type { User } from '../../src/modules/users/user.entity.js';
import type { TestClient } from './test-app.js';

/** Where a visitor goes: the application under test, in this process or in others. */
export interface Site {
  /** The public URL. */
  readonly baseUrl: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  readonly sms: {
    /** How many messages reached a phone. */
    count(phone: string): number | Promise<number>;
    /** The newest one-time password that reached a phone; waits until there are more messages than `after`. */
    password(phone: string, after?: number): Promise<string>;
  };
}

/** An HTML answer with its forms. */
export interface Page {
  /** The public URL of the site that answered. */
  baseUrl: string;
  status: number;
  headers: Headers;
  html: string;
  title: string;
  /** Where a redirect goes, or null. */
  location: string | null;
}

/** RFC 7636, Appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** A browser without scripts: keeps cookies, sends Origin with forms, and fills in what a page's form holds. */
export class Visitor {
  readonly cookies = new Map<string, string>();

  /** @param headers what this browser sends with every request, such as its languages */
  constructor(
    private readonly app: Site,
    private readonly headers: Record<string, string> = {},
  ) {}

  async open(path: string): Promise<Page> {
    const headers = { ...this.headers, ...this.cookieHeader() };
    return this.receive(await this.app.fetch(path, { headers }));
  }

  /** Sends the form of `page` that posts to `action`, with the hidden fields of the page and `fields`. */
  async submit(
    page: Page,
    action: string,
    fields: Record<string, string | string[]> = {},
  ): Promise<Page> {
    const form = new RegExp(`<form[^>]*action="${action}"[^>]*>.*?</form>`, 's').exec(
      page.html,
    )?.[0];
    if (form === undefined)
      throw new Error(`The page has no form that posts to ${action}:\n${page.html}`);
    const body = new URLSearchParams();
    for (const [name, value] of hiddenFields(form)) if (!(name in fields)) body.append(name, value);
    for (const [name, values] of Object.entries(fields))
      for (const value of [values].flat()) body.append(name, value);
    return this.post(action, body);
  }

  async post(
    path: string,
    body: URLSearchParams,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const answer = await this.app.fetch(path, {
      method: 'POST',
      headers: { ...this.headers, origin: this.app.baseUrl, ...this.cookieHeader(), ...headers },
      body,
    });
    return this.receive(answer);
  }

  /** From the app's link to the consent page, by phone and one-time password. */
  async signIn(link: string, user: User): Promise<Page> {
    const earlier = await this.app.sms.count(user.phone);
    const phonePage = await this.open(link);
    const codePage = await this.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: user.phone,
    });
    const code = await this.app.sms.password(user.phone, earlier);
    return this.submit(codePage, '/oauth/authorize/verify', { code });
  }

  /** From a page of the account to the same page, signed in. */
  async signInToAccount(user: User, path = '/account/apps'): Promise<Page> {
    const earlier = await this.app.sms.count(user.phone);
    const phonePage = await this.open(path);
    const codePage = await this.submit(phonePage, '/account/sign-in', { phone: user.phone });
    const code = await this.app.sms.password(user.phone, earlier);
    const { location, html } = await this.submit(codePage, '/account/verify', { code });
    if (location === null) throw new Error(`The code does not sign in:\n${html}`);
    return this.open(location);
  }

  private cookieHeader(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie === '' ? {} : { cookie };
  }

  private async receive(answer: Response): Promise<Page> {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const html = await answer.text();
    const title = /<title>(.*?)<\/title>/s.exec(html)?.[1]?.trim() ?? '';
    const { status, headers } = answer;
    const { baseUrl } = this.app;
    return { baseUrl, status, headers, html, title, location: headers.get('location') };
  }
}

/** The link that an app sends its user to. Undefined parameters are left out. */
export function authorizeLink(
  client: TestClient,
  parameters: Record<string, string | undefined> = {},
): string {
  const all = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUris[0],
    scope: client.scopes.join(' '),
    state: 'af0ifjsldkj',
    ...(client.kind === 'public' && { code_challenge: CHALLENGE, code_challenge_method: 'S256' }),
    ...parameters,
  };
  const query = Object.entries(all)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return `/oauth/authorize?${query}`;
}

/** Runs the flow up to the redirect: the user signs in and allows `scopes`, all that were asked for by default. */
export async function approve(
  app: Site,
  user: User,
  client: TestClient,
  {
    scopes,
    ...parameters
  }: { scopes?: string[] } & Record<string, string | string[] | undefined> = {},
): Promise<URLSearchParams> {
  const link = authorizeLink(client, parameters as Record<string, string | undefined>);
  const visitor = new Visitor(app);
  const consent = await visitor.signIn(link, user);
  const asked = new URL(link, app.baseUrl).searchParams.get('scope')?.split(' ') ?? [];
  const done = await visitor.submit(consent, '/oauth/authorize/decision', {
    scope: scopes ?? asked,
    decision: 'approve',
  });
  return redirectParameters(done);
}

/** What a redirect to the app tells it. */
export function redirectParameters({ location, html }: Page): URLSearchParams {
  if (location === null) throw new Error(`The page does not redirect:\n${html}`);
  return new URLSearchParams(location.slice(location.indexOf('?') + 1));
}

/** A call of the token endpoint with the client's credentials in the form. */
export function requestToken(
  app: Site,
  client: TestClient,
  form: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const credentials = { client_id: client.clientId, client_secret: client.secret };
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...credentials, ...form }))
    if (value !== undefined) body.append(name, value);
  return app.fetch('/oauth/token', { method: 'POST', headers, body });
}

/** Exchanges a code as the client should. */
export function exchange(
  app: Site,
  client: TestClient,
  code: string,
  form: Record<string, string | undefined> = {},
): Promise<Response> {
  return requestToken(app, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUris[0],
    code_verifier: client.kind === 'public' ? VERIFIER : undefined,
    ...form,
  });
}

function hiddenFields(form: string): [string, string][] {
  return [...form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
    attribute(input, 'name'),
    attribute(input, 'value'),
  ]);
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  return value
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
}
