import { type Page, Browser, linkOf } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { countGrantsAndCodes, expectErrorRedirect, expectPage } from '../support/responses.js';
import { SECOND } from '../../src/platform/clock.js';
import { useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, SIGN_OUT, DECISION } from '../support/sign-in.js';

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

  it('O27 O28 O29 sends the security headers with every page of the flow, form-action with all but the consent page, and no link to another site', async () => {
    const client = await app().addClient();
    const user = await app().addUser();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const invalidPhone = await visitor.submit(phonePage, SIGN_IN, { phone: 'nobody' });
    const codePage = await visitor.submit(phonePage, SIGN_IN, { phone: user.phone });
    const invalidCode = await visitor.submit(codePage, VERIFY, { code: 'x' });
    const otherNumber = await visitor.open(linkOf(codePage, 'Use another number'));
    const code = await app().sms.password(user.phone);
    const consent = await visitor.submit(codePage, VERIFY, { code });
    const consentAgain = await visitor.open(authorizeLink(client));
    const signedOut = await visitor.submit(consent, SIGN_OUT);
    const error = await visitor.post(DECISION, new URLSearchParams());
    const pages: [Page, number][] = [
      ...[phonePage, codePage, otherNumber, consent, consentAgain, signedOut].map(
        (page): [Page, number] => [page, 200],
      ),
      ...[invalidPhone, invalidCode, error].map((page): [Page, number] => [page, 400]),
    ];
    for (const [page, status] of pages) {
      expectPage(page, status);
      const isConsent = page === consent || page === consentAgain;
      expect(page.html.includes('name="decision"')).toBe(isConsent);
      const policy = page.headers.get('content-security-policy')?.split('; ') ?? [];
      expect(policy).toContain("default-src 'none'");
      expect(policy.filter((directive) => directive.startsWith('form-action'))).toEqual(
        isConsent ? [] : ["form-action 'self'"],
      );
      const targets = [...page.html.matchAll(/\b(?:href|src|action)="([^"]*)"/g)];
      expect(targets.filter(([, target]) => !/^(\/[^/]|#)/.test(target ?? ''))).toEqual([]);
    }
  });

  it('O40 shows a returning user their last choice, and selects a scope that is new to them', async () => {
    const client = await app().addClient({ kind: 'public' });
    const visitor = new Browser(app());
    const link = authorizeLink(client, { scope: 'profile.read posts.read' });
    const first = await visitor.signIn(link, await app().addUser());
    await visitor.submit(first, DECISION, { scope: ['posts.read'], decision: 'approve' });
    for (const [scope, checked] of [
      ['profile.read posts.read', ['posts.read']],
      ['profile.read posts.read analytics.read', ['posts.read', 'analytics.read']],
    ] as const) {
      const { html } = await visitor.open(authorizeLink(client, { scope }));
      const selected = [...html.matchAll(/name="scope" value="([^"]*)" checked/g)];
      expect(selected.map(([, name]) => name)).toEqual(checked);
    }
  });

  it('O41 redirects prompt=none with interaction_required, with and without a session', async () => {
    const client = await app().addClient();
    const link = authorizeLink(client, { prompt: 'none' });
    const visitor = new Browser(app());
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    await visitor.signIn(authorizeLink(client), await app().addUser());
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it.each(['consent', 'login', 'select_account', 'login consent'])(
    'O41 shows the consent page for prompt=%s to a user who approved the app before',
    async (prompt) => {
      const client = await app().addClient();
      const visitor = new Browser(app());
      const user = await app().addUser();
      const consent = await visitor.signIn(authorizeLink(client), user);
      const fields = { scope: [...client.scopes], decision: 'approve' };
      const { location } = await visitor.submit(consent, DECISION, fields);
      expect(location).toContain('code=svcac_');
      const link = authorizeLink(client, { prompt });
      app().clock.advance(61 * SECOND);
      const opened = await visitor.open(link);
      // The other prompts ask a signed-in user to sign in again.
      expect(opened.html.includes('name="phone"')).toBe(prompt !== 'consent');
      const page = prompt === 'consent' ? opened : await visitor.signIn(link, user);
      expect(page.html).toContain('type="checkbox" name="scope"');
    },
  );
});
