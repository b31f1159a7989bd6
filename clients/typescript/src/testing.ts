import { ClientError } from './errors.js';

/** A member of the network for tests, whose code never changes. */
export interface TestMember {
  /** With the country code, such as `+14155550142`. */
  phone: string;
  code: string;
}

interface Page {
  html: string;
  /** Where the browser returns to the app. */
  callback?: string;
}

/**
 * Does what the browser of a test member does, for tests of a test app: signs in and allows every scope. Works in Node, not in browsers.
 * @param url of `startAuthorization`
 * @returns the address to which the browser returns, for `finishAuthorization`
 * @throws ClientError if a page shows an error, for example because the code is wrong
 */
export async function allowAsTestMember(url: string, { phone, code }: TestMember): Promise<string> {
  const { origin } = new URL(url);
  const cookies = new Map<string, string>();

  async function open(address: string, body?: URLSearchParams): Promise<Page> {
    const headers = { cookie: [...cookies.values()].join('; ') };
    const method = body ? 'POST' : 'GET';
    const response = await fetch(address, {
      method,
      body: body ?? null,
      headers,
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie())
      cookies.set(line.replace(/=.*/, ''), line.replace(/;.*/, ''));
    const html = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      const target = new URL(location, address);
      return target.origin === origin ? open(target.href) : { html, callback: location };
    }
    if (response.ok) return { html };
    const title = /<title>(.*?)<\/title>/s.exec(html)?.[1] ?? '';
    throw new ClientError(`The page "${title}" has the status ${response.status}.`);
  }

  let page = await open(url);
  for (const [name, value] of Object.entries({ phone, code, decision: 'approve' })) {
    const form = page.html.split('<form ').find((part) => part.includes(` name="${name}"`)) ?? '';
    const path = /action="([^"]*)"/.exec(form)?.[1] ?? '';
    const body = new URLSearchParams({ [name]: value });
    for (const [, field = '', text = ''] of form.matchAll(
      /<input type="(?:hidden|checkbox)" name="(\w+)" value="([^"]*)"/g,
    ))
      body.append(field, text);
    page = await open(origin + path, body);
  }
  if (page.callback === undefined) throw new ClientError('The consent page did not redirect.');
  return page.callback;
}
