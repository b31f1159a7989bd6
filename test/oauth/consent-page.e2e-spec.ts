import { type Page, Browser, linkOf } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Consent page', (database) => {
  const app = useTestApp(database);

  it('O25 shows the app, the redirect host, the user and a checkbox for every requested scope', async () => {
    const client = await app().addClient({ name: 'Garden Share' });
    const user = await app().addUser({ name: 'Ana Lee', phone: '+14155559901' });
    const page = await new Browser(app()).signIn(authorizeLink(client), user);
    expectPage(page, 200);
    for (const text of ['Garden Share', 'garden.example', 'Ana Lee', '••01'])
      expect(page.html).toContain(text);
    expect(page.html).not.toContain(user.phone);
    for (const sentence of [
      'See your name, photo, karma and neighbourhood',
      'Read your own posts and the comments on them',
      'Publish and delete posts and comments in your name',
      'See how many likes and comments your posts have',
    ])
      expect(page.html).toContain(sentence);
    expect(page.html.match(/type="checkbox"[^>]* checked/g)).toHaveLength(4);
  });

  it('O25 shows a checkbox for requested scopes only', async () => {
    const client = await app().addClient();
    const link = authorizeLink(client, { scope: 'posts.read' });
    const page = await new Browser(app()).signIn(link, await app().addUser());
    const boxes = [...page.html.matchAll(/type="checkbox" name="scope" value="([^"]*)"/g)];
    expect(boxes.map(([, name]) => name)).toEqual(['posts.read']);
  });

  it('O25 escapes markup in the names of app and user', async () => {
    const client = await app().addClient({ name: '<script>alert(1)</script>"\'&' });
    const user = await app().addUser({ name: '<img src=x onerror=alert(2)>' });
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const consent = await visitor.signIn(authorizeLink(client), user);
    for (const { html } of [phonePage, consent]) expect(html).not.toMatch(/<script>|<img/);
    expect(consent.html).toContain('&lt;script&gt;');
  });

  it('O25 shows the name of the app for a private-use redirect URI', async () => {
    const client = await app().addClient({ kind: 'public', redirectUris: ['com.example.app:/cb'] });
    const page = await new Browser(app()).signIn(authorizeLink(client), await app().addUser());
    expect(page.html).toContain(
      `return to <strong class="host"><bdi>${client.name}</bdi></strong>`,
    );
    expect(page.html).not.toContain('com.example.app:');
  });

  it('O26 has the buttons Allow and Cancel in one form with the hidden fields transaction and token', async () => {
    const client = await app().addClient();
    const page = await new Browser(app()).signIn(authorizeLink(client), await app().addUser());
    const form = /<form[^>]*action="\/oauth\/authorize\/decision".*?<\/form>/s.exec(page.html)?.[0];
    expect(form).toMatch(/<button[^>]*type="submit"[^>]*name="decision" value="approve"/);
    expect(form).toMatch(/<button[^>]*type="submit"[^>]*name="decision" value="deny"/);
    expect(form).toMatch(/<input type="hidden" name="transaction" value="txn_[0-9a-z]{26}">/);
    expect(form).toMatch(/<input type="hidden" name="token" value="[0-9a-f]{64}">/);
  });

  it('O166 loads one script of this server, and has no id that a fragment could name', async () => {
    const client = await app().addClient();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    expect(consent.html.match(/<script[^>]*>/g)).toEqual([
      '<script type="module" src="/assets/consent.js">',
    ]);
    expect(consent.html).not.toMatch(/\sid=|<a [^>]*name=|\son[a-z]+=|autofocus/);
    expect(consent.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(consent.headers.get('document-policy')).toBe('force-load-at-top');
    const script = await app().fetch('/assets/consent.js');
    expect(script.status).toBe(200);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(phonePage.html).not.toMatch(/<script|\son[a-z]+=/);
    expect(phonePage.headers.get('content-security-policy')).not.toContain('script-src');
  });

  it('O28 sends no form-action in its Content-Security-Policy, unlike other pages', async () => {
    const policyOf = ({ headers }: Page): string => headers.get('content-security-policy') ?? '';
    const client = await app().addClient();
    const user = await app().addUser();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: user.phone,
    });
    const code = await app().sms.password(user.phone);
    const verified = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
    const opened = await visitor.open(authorizeLink(client));
    for (const consent of [verified, opened]) {
      expect(consent.html).toContain('name="decision"');
      expect(policyOf(consent)).toContain("default-src 'none'");
      expect(policyOf(consent)).not.toContain('form-action');
    }
    const error = await visitor.open('/oauth/authorize');
    for (const page of [phonePage, codePage, error])
      expect(policyOf(page).split('; ')).toContain("form-action 'self'");
  });

  it('O29 links to no other site on any page of the flow', async () => {
    const client = await app().addClient();
    const user = await app().addUser();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: user.phone,
    });
    const code = await app().sms.password(user.phone);
    const consent = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
    const error = await visitor.open('/oauth/authorize');
    for (const { html } of [phonePage, codePage, consent, error]) {
      const targets = [...html.matchAll(/\b(?:href|src|action)="([^"]*)"/g)].map(([, to]) => to);
      expect(targets.filter((target) => !/^(\/[^/]|#)/.test(target ?? ''))).toEqual([]);
    }
  });

  it('O27 sends the security headers with every page of the flow', async () => {
    const client = await app().addClient();
    const user = await app().addUser();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    expectPage(phonePage, 200);
    const invalidPhone = await visitor.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: 'nobody',
    });
    expectPage(invalidPhone, 400);
    const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: user.phone,
    });
    expectPage(codePage, 200);
    expectPage(await visitor.submit(codePage, '/oauth/authorize/verify', { code: 'x' }), 400);
    expectPage(await visitor.open(linkOf(codePage, 'Use another number')), 200);
    const code = await app().sms.password(user.phone);
    const consent = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
    expectPage(consent, 200);
    expectPage(await visitor.submit(consent, '/oauth/authorize/sign-out'), 200);
    expectPage(await visitor.post('/oauth/authorize/decision', new URLSearchParams()), 400);
  });

  it('O40 asks a returning user again and shows their last choice', async () => {
    const client = await app().addClient({ kind: 'public' });
    const user = await app().addUser();
    const visitor = new Browser(app());
    const first = await visitor.signIn(authorizeLink(client), user);
    await visitor.submit(first, '/oauth/authorize/decision', {
      scope: ['posts.read'],
      decision: 'approve',
    });
    const second = await visitor.open(authorizeLink(client));
    expectPage(second, 200);
    const selected = [...second.html.matchAll(/name="scope" value="([^"]*)" checked/g)];
    expect(selected.map(([, name]) => name)).toEqual(['posts.read']);
  });

  it('O40 selects a scope that is new to the user, and not one that they denied', async () => {
    const client = await app().addClient();
    const user = await app().addUser();
    const visitor = new Browser(app());
    const first = await visitor.signIn(
      authorizeLink(client, { scope: 'profile.read posts.read' }),
      user,
    );
    await visitor.submit(first, '/oauth/authorize/decision', {
      scope: ['posts.read'],
      decision: 'approve',
    });
    const second = await visitor.open(
      authorizeLink(client, { scope: 'profile.read posts.read analytics.read' }),
    );
    const selected = [...second.html.matchAll(/name="scope" value="([^"]*)" checked/g)];
    expect(selected.map(([, name]) => name)).toEqual(['posts.read', 'analytics.read']);
  });
});
