/** A browser on the site of a recipe: it stores cookies and follows redirects within the site. */
export class PartnerBrowser {
  private readonly cookies = new Map<string, string>();

  /** @param site the origin of the recipe */
  constructor(readonly site: string) {}

  /** Returns the last response of the site, which may redirect to another site. */
  async open(path: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(path, this.site);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: { cookie, origin: this.site, ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return response;
    const next = new URL(location, url);
    return next.origin === this.site ? this.open(next) : response;
  }

  async text(path: string | URL): Promise<string> {
    return (await this.open(path)).text();
  }
}
