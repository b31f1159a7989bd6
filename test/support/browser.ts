import type { User } from '../../src/modules/users/user.entity.js';

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

/** A browser without scripts: it stores cookies, sends `Origin` with forms, and submits the hidden fields of a form. */
export class Browser {
  readonly cookies = new Map<string, string>();

  /** @param headers sent with every request, such as `Accept-Language` */
  constructor(
    private readonly app: Site,
    private readonly headers: Record<string, string> = {},
  ) {}

  async open(path: string): Promise<Page> {
    const headers = { ...this.headers, ...this.cookieHeader() };
    return this.receive(await this.app.fetch(path, { headers }));
  }

  /** Submits the form of `page` that posts to `action`, with its hidden fields and `fields`. */
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
    const response = await this.app.fetch(path, {
      method: 'POST',
      headers: { ...this.headers, origin: this.app.baseUrl, ...this.cookieHeader(), ...headers },
      body,
    });
    return this.receive(response);
  }

  /** Opens the app's link and signs in by phone and one-time password. Returns the consent page. */
  async signIn(link: string, user: User): Promise<Page> {
    const earlier = await this.app.sms.count(user.phone);
    const phonePage = await this.open(link);
    const codePage = await this.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: user.phone,
    });
    const code = await this.app.sms.password(user.phone, { afterMessages: earlier });
    return this.submit(codePage, '/oauth/authorize/verify', { code });
  }

  /** Opens an account page and signs in. Returns that page. */
  async signInToAccount(user: User, path = '/account/apps'): Promise<Page> {
    const earlier = await this.app.sms.count(user.phone);
    const phonePage = await this.open(path);
    const codePage = await this.submit(phonePage, '/account/sign-in', { phone: user.phone });
    const code = await this.app.sms.password(user.phone, { afterMessages: earlier });
    const { location, html } = await this.submit(codePage, '/account/verify', { code });
    if (location === null) throw new Error(`The sign-in failed:\n${html}`);
    return this.open(location);
  }

  private cookieHeader(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie === '' ? {} : { cookie };
  }

  private async receive(response: Response): Promise<Page> {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const html = await response.text();
    const title = /<title>(.*?)<\/title>/s.exec(html)?.[1]?.trim() ?? '';
    const { status, headers } = response;
    const { baseUrl } = this.app;
    return { baseUrl, status, headers, html, title, location: headers.get('location') };
  }
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
