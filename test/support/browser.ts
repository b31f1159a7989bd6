import type { UserWithPhone } from '../../src/modules/users/users.service.js';

/** Who signs in. A test member has a fixed code and gets no message. */
export type Person = Pick<UserWithPhone, 'phone'> & { code?: string };

/** The application under test, in this process or in other processes. */
export interface Site {
  /** The public URL. */
  readonly baseUrl: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  readonly sms: {
    /** The number of messages sent to a phone. */
    count(phone: string): number | Promise<number>;
    /** Returns the newest one-time password sent to a phone, once the phone has got more than `afterMessages` messages. */
    password(phone: string, options?: { afterMessages?: number }): Promise<string>;
  };
}

/** An HTML response. */
export interface Page {
  /** The public URL of the site that sent it. */
  baseUrl: string;
  status: number;
  headers: Headers;
  html: string;
  title: string;
  /** The target of a redirect, or null. */
  location: string | null;
}

/** The names of our cookies, those of release 1.0.0 included. */
const OUR_COOKIE = /^(?:__\w+-)?(?:devplatform-)?(browser|session|page)(?:-\d+)?$/;

/**
 * A browser without scripts: it stores cookies, sends `Origin` with forms, submits the hidden fields of a form, and follows the
 * redirects of forms within the site.
 */
export class Browser {
  /** The cookies `browser` and `session`, without the prefix and suffix of their names. */
  readonly cookies = new Map<string, string>();
  /** The full names of the received cookies. Those of release 1.0.0 have no `devplatform-`. */
  private readonly fullNames = new Map<string, string>();
  /** The cookies `page`, by path. */
  private readonly pageStates = new Map<string, string>();

  /** @param headers sent with every request, such as `Accept-Language` */
  constructor(
    private readonly app: Site,
    private readonly headers: Record<string, string> = {},
  ) {}

  async open(path: string): Promise<Page> {
    const headers = { ...this.headers, ...this.cookieHeader(path) };
    return this.receive(await this.app.fetch(path, { headers }));
  }

  /** Opens the targets of redirects, as long as they are pages of the site. */
  async follow(page: Page): Promise<Page> {
    return page.location?.startsWith('/') ? this.follow(await this.open(page.location)) : page;
  }

  /** Submits the form of `page` that posts to `action`, with its hidden fields and `fields`. */
  async submit(
    page: Page,
    action: string,
    fields: Record<string, string | string[]> = {},
    options?: { follow: boolean },
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
    return options?.follow === false ? this.postOnly(action, body) : this.post(action, body);
  }

  async post(
    path: string,
    body: URLSearchParams,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    return this.follow(await this.postOnly(path, body, headers));
  }

  /** Does not follow redirects. */
  async postOnly(
    path: string,
    body: URLSearchParams,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const response = await this.app.fetch(path, {
      method: 'POST',
      headers: {
        ...this.headers,
        origin: this.app.baseUrl,
        ...this.cookieHeader(path),
        ...headers,
      },
      body,
    });
    return this.receive(response);
  }

  /** Opens the app's link and signs in by phone and one-time password. Returns the consent page. */
  async signIn(link: string, user: Person): Promise<Page> {
    return this.signInOn(await this.open(link), user);
  }

  /** Like `signIn`, on a page with the form for the phone number. */
  async signInOn(phonePage: Page, { phone, code: fixed }: Person): Promise<Page> {
    const earlier = await this.app.sms.count(phone);
    const codePage = await this.submit(phonePage, '/oauth/authorize/sign-in', { phone });
    const code = fixed ?? (await this.app.sms.password(phone, { afterMessages: earlier }));
    return this.submit(codePage, '/oauth/authorize/verify', { code });
  }

  /** Allows these scopes on the consent page. Returns the redirect to the app, or the page of an error. */
  allow(page: Page, scopes: readonly string[]): Promise<Page> {
    const fields = { scope: [...scopes], decision: 'approve' };
    return this.submit(page, '/oauth/authorize/decision', fields);
  }

  /** Opens an account page and signs in. Returns that page. */
  async signInToAccount(user: UserWithPhone, path = '/account/apps'): Promise<Page> {
    const earlier = await this.app.sms.count(user.phone);
    const phonePage = await this.open(path);
    const codePage = await this.submit(phonePage, '/account/sign-in', { phone: user.phone });
    const code = await this.app.sms.password(user.phone, { afterMessages: earlier });
    return this.submit(codePage, '/account/verify', { code });
  }

  /** Ends the access of an app on its account page. Returns the page with the result. */
  async disconnect(clientId: string): Promise<Page> {
    const page = await this.open(`/account/apps/${clientId}`);
    return this.submit(page, '/account/apps/revoke');
  }

  /** Sends the form of a page of the account that ends the access of apps, also if this page does not have it. */
  async disconnectBy(page: Page, fields: Record<string, string>): Promise<Page> {
    const token = new Map(hiddenFields(page.html)).get('token') ?? '';
    return this.post('/account/apps/revoke', new URLSearchParams({ token, ...fields }));
  }

  /** The header `Cookie` of requests to a path. */
  cookie(path = '/'): string {
    const pageStates = [...this.pageStates]
      .filter(([prefix]) => path.startsWith(prefix))
      .map(([, value]): [string, string] => ['page', value]);
    return [...this.cookies, ...pageStates]
      .map(([name, value]) => {
        const fullName = this.fullNames.get(name) ?? cookieName(this.app.baseUrl, name);
        return `${fullName}=${value}`;
      })
      .join('; ');
  }

  private cookieHeader(path: string): Record<string, string> {
    const cookie = this.cookie(path);
    return cookie === '' ? {} : { cookie };
  }

  private async receive(response: Response): Promise<Page> {
    for (const line of response.headers.getSetCookie()) {
      const [, fullName = '', value = '', path = ''] =
        /^([^=]+)=([^;]*).*; path=([^;]*)/i.exec(line) ?? [];
      const name = OUR_COOKIE.exec(fullName)?.[1] ?? fullName;
      this.fullNames.set(name, fullName);
      const [jar, key] = name === 'page' ? [this.pageStates, path] : [this.cookies, name];
      if (value === '') jar.delete(key);
      else jar.set(key, value);
    }
    const html = await response.text();
    const title = /<title>(.*?)<\/title>/s.exec(html)?.[1]?.trim() ?? '';
    const { status, headers } = response;
    const { baseUrl } = this.app;
    return { baseUrl, status, headers, html, title, location: headers.get('location') };
  }
}

/** The URL of the link with this text. */
export function linkOf({ html }: Page, text: string): string {
  const href = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}</a>`).exec(html)?.[1];
  if (href === undefined) throw new Error(`The page has no link "${text}":\n${html}`);
  return href;
}

/** The full name of a cookie of our pages. */
export function cookieName(baseUrl: string, name: string): string {
  const { protocol, port } = new URL(baseUrl);
  if (protocol === 'http:') return `devplatform-${name}-${port || 80}`;
  return `${name === 'page' ? '__Secure' : '__Host'}-devplatform-${name}`;
}

/** The value of the first hidden field with this name; empty if the page has none. */
export function hiddenField({ html }: Page, name: string): string {
  return hiddenFields(html).find(([field]) => field === name)?.[1] ?? '';
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
