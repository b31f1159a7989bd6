import { SECOND } from '../../src/platform/clock.js';
import { AppsService, type Registration } from '../../src/modules/oauth/clients/apps.service.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser, linkOf } from '../support/browser.js';
import { authorizeLink, exchange, redirectParameters, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import {
  countGrantsAndCodes,
  expectErrorRedirect,
  expectPage,
  json,
  type TokenBody,
} from '../support/responses.js';
import { useTestApp, type TestClient } from '../support/test-app.js';
import { SIGN_IN, VERIFY, SIGN_OUT, DECISION } from '../support/sign-in.js';

const CHECKBOX = 'type="checkbox" name="scope"';

onOneEngine('Consent page', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser({ name: 'Ana Lee' });
    visitor = new Browser(app());
  });

  it('O25 shows the app, the redirect host, the user and a checkbox for every requested scope', async () => {
    const page = await visitor.signIn(authorizeLink(client), user);
    expectPage(page, 200);
    for (const text of ['Garden Share', 'garden.example', 'Ana Lee', `••${user.phone.slice(-2)}`])
      expect(page.html).toContain(text);
    expect(page.html).not.toContain(user.phone);
    for (const sentence of [
      'See your name, photo, karma and neighbourhood',
      'Read your own posts and the comments on them',
      'Publish and delete posts and comments in your name',
      'See how many likes and comments your posts have',
    ])
      expect(page.html).toContain(sentence);
    expect(page.html.match(/type="checkbox"[^>]* checked/g)).toHaveLength(client.scopes.length);
  });

  it('O25 escapes markup in the names of the user and of the app', async () => {
    client = await app().addClient({ name: 'Tea & <i>Cake</i>' });
    const named = await app().addUser({ name: '<b>Ana</b>' });
    const { html } = await visitor.signIn(authorizeLink(client), named);
    expect(html).toContain('Tea &amp; &lt;i&gt;Cake&lt;/i&gt;');
    expect(html).toContain('&lt;b&gt;Ana&lt;/b&gt;');
    expect(html).not.toMatch(/<[bi]>(?:Ana|Cake)/);
  });

  it('O25 shows the name of the app for a private-use redirect URI', async () => {
    client = await app().addClient({ kind: 'public', redirectUris: ['com.example.app:/cb'] });
    const page = await visitor.signIn(authorizeLink(client), user);
    expect(page.html).toContain(
      `return to <strong class="host"><bdi>${client.name}</bdi></strong>`,
    );
    expect(page.html).not.toContain('com.example.app:');
  });

  it('O166 loads one script of this server, and has no id that a fragment could name', async () => {
    const phonePage = await visitor.open(authorizeLink(client));
    const consent = await visitor.signIn(authorizeLink(client), user);
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
    client = await app().addClient({ kind: 'public' });
    const link = authorizeLink(client, { scope: 'profile.read posts.read' });
    const first = await visitor.signIn(link, user);
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
    const link = authorizeLink(client, { prompt: 'none' });
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    await visitor.signIn(authorizeLink(client), user);
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it.each(['consent', 'login', 'select_account', 'login consent'])(
    'O41 shows the consent page for prompt=%s to a user who approved the app before',
    async (prompt) => {
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

  describe('to an app that already has every requested scope', () => {
    /** Allows these scopes, or those of the hidden fields. */
    async function allow(page: Page, scope?: string[]): Promise<TokenBody> {
      const fields = { decision: 'approve', ...(scope && { scope }) };
      const done = await visitor.submit(page, DECISION, fields);
      const code = redirectParameters(done).get('code') ?? '';
      return json<TokenBody>(await exchange(app(), client, code));
    }

    const allowAll = async (): Promise<TokenBody> =>
      allow(await visitor.signIn(authorizeLink(client), user), [...client.scopes]);

    const asksForScopes = async (parameters?: Record<string, string>): Promise<boolean> =>
      (await visitor.open(authorizeLink(client, parameters))).html.includes(CHECKBOX);

    it('O40 lists the requested scopes, and issues a code for them after one click', async () => {
      await allowAll();
      const scope = 'profile.read posts.read';
      const page = await visitor.open(authorizeLink(client, { scope }));
      expectPage(page, 200);
      expect(page.title).toMatch(/^Continue\?/);
      expect(page.html).not.toContain(CHECKBOX);
      expect(page.html).toContain('>Continue</button>');
      expect(page.html).toContain('Read your own posts and the comments on them');
      expect(page.html).not.toContain('Publish and delete');
      // The hidden fields of the form have the scopes.
      expect((await allow(page)).scope).toBe(scope);
    });

    it('O40 denies with Cancel, and keeps the earlier grant', async () => {
      const { access_token: earlier } = await allowAll();
      const page = await visitor.open(authorizeLink(client));
      const done = await visitor.submit(page, DECISION, { decision: 'deny' });
      expect(redirectParameters(done).get('error')).toBe('access_denied');
      expect((await app().call(earlier, 'GET', '/me')).status).toBe(200);
    });

    it('O40 links to the consent page, in the same language', async () => {
      await allowAll();
      const page = await visitor.open(authorizeLink(client, { ui_locales: 'es' }));
      const consent = await visitor.open(
        linkOf(page, 'Cambiar lo que puede hacer').replaceAll('&amp;', '&'),
      );
      expect(consent.html).toContain(CHECKBOX);
      expect(consent.headers.get('content-language')).toBe('es');
      const { scope } = await allow(consent, ['profile.read']);
      expect(scope).toBe('profile.read');
      expect(await asksForScopes()).toBe(true);
    });

    it('O40 shows the consent page if a scope is missing, was withdrawn or has ended', async () => {
      const [first = '', ...others] = client.scopes;
      await allow(await visitor.signIn(authorizeLink(client), user), others);
      expect(await asksForScopes()).toBe(true);
      const scope = others.join(' ');
      expect(await asksForScopes({ scope })).toBe(false);
      const consent = await visitor.open(authorizeLink(client));
      const { refresh_token: token } = await allow(consent, [first]);
      expect(await asksForScopes({ scope })).toBe(true);
      expect(await asksForScopes({ scope: first })).toBe(false);
      await sendForm(app(), '/oauth/revoke', client, { token });
      expect(await asksForScopes({ scope: first })).toBe(true);
    });

    it.each<[changed: string, change: Partial<Registration>]>([
      ['name', { name: 'Garden Share Plus' }],
      ['publisher', { publisher: 'Other Ltd' }],
    ])('O40 shows the consent page once after the %s of the app changed', async (_, change) => {
      await allowAll();
      expect(await asksForScopes()).toBe(false);
      await app().service(AppsService).update(client.clientId, change, { actor: 'olga' });
      const page = await visitor.open(authorizeLink(client));
      expect(page.html).toContain(CHECKBOX);
      // The latest of two grants is the one with the later id.
      app().clock.advance(SECOND);
      await allow(page, [...client.scopes]);
      expect(await asksForScopes()).toBe(false);
    });

    it.each(['full', 'short'])(
      'O40 shows the consent page again if the app changed while the user read the %s one',
      async (kind) => {
        if (kind === 'short') await allowAll();
        const link = authorizeLink(client);
        const page = kind === 'short' ? await visitor.open(link) : await visitor.signIn(link, user);
        const { grants } = await countGrantsAndCodes(app(), client);
        const change = { name: 'Garden Share Plus' };
        await app().service(AppsService).update(client.clientId, change, { actor: 'olga' });
        const decision = { scope: [...client.scopes], decision: 'approve' };
        const again = await visitor.submit(page, DECISION, decision);
        expectPage(again, 200);
        expect(again.html).toContain(CHECKBOX);
        expect(again.html).toContain(change.name);
        expect((await countGrantsAndCodes(app(), client)).grants).toBe(grants);
        const done = redirectParameters(await visitor.submit(again, DECISION, decision));
        expect(done.has('code')).toBe(true);
      },
    );

    it('O40 shows the consent page for another redirect host, but not for another path or port', async () => {
      const redirectUris = [
        'https://garden.example/callback',
        'https://garden.example/other',
        'https://other.example/callback',
        'http://127.0.0.1/callback',
      ];
      client = await app().addClient({ kind: 'public', redirectUris });
      await visitor.allow(await visitor.signIn(authorizeLink(client), user), client.scopes);
      expect(await asksForScopes({ redirect_uri: 'https://garden.example/other' })).toBe(false);
      expect(await asksForScopes({ redirect_uri: 'https://other.example/callback' })).toBe(true);
      const native = { redirect_uri: 'http://127.0.0.1:41001/callback' };
      const consent = await visitor.open(authorizeLink(client, native));
      expect(consent.html).toContain(CHECKBOX);
      app().clock.advance(SECOND);
      await visitor.allow(consent, client.scopes);
      expect(await asksForScopes({ redirect_uri: 'http://127.0.0.1:52002/callback' })).toBe(false);
    });

    it('O40 shows the consent page for a grant of version 1.1, which did not store how the app presented itself', async () => {
      await allowAll();
      await app().dataSource.manager.update(Grant, { userId: user.id }, { identityHash: null });
      expect(await asksForScopes()).toBe(true);
    });

    it('O40 shows the consent page to another user of the browser', async () => {
      await allowAll();
      const page = await visitor.open(authorizeLink(client));
      const phonePage = await visitor.submit(page, SIGN_OUT);
      const other = await app().addUser();
      const consent = await visitor.signInOn(phonePage, other);
      expect(consent.html).toContain(CHECKBOX);
    });
  });
});
