import { formatPhone } from '../../src/modules/users/phone-number.js';
import { type Page, Browser, linkOf } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { getRaw } from '../support/raw-request.js';
import { expectPage, returnUrl } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, SIGN_OUT, DECISION } from '../support/sign-in.js';

const TITLES = { en: 'Sign in – Neighbourhood network', es: 'Iniciar sesión – Red vecinal' };

/** Expects the language in the text, the element `html` and the headers of the page. */
function expectLanguage({ html, headers }: Page, language: 'en' | 'es'): void {
  expect(html).toContain(`<html lang="${language}">`);
  expect(headers.get('content-language')).toBe(language);
  expect(headers.get('vary')).toBe('Accept-Language');
  expect(html).toContain(language === 'es' ? 'Red vecinal' : 'Neighbourhood network');
}

onOneEngine('Language of the pages', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  function openIn(accepted: string, uiLocales?: string): Promise<Page> {
    const visitor = new Browser(app(), { 'accept-language': accepted });
    return visitor.open(authorizeLink(client, { ui_locales: uiLocales }));
  }

  it.each<['en' | 'es', accepted: string, uiLocales?: string]>([
    ['es', 'es-419,es;q=0.9,en;q=0.8'],
    ['es', 'qaa-FR, qaa;q=0.9, es;q=0.2'],
    ['en', 'en-US,es;q=0.9,en;q=0.8'],
    ['en', 'es;q=0, *'],
    ['en', 'español; ;;, =0'],
    ['es', `${'qaa, '.repeat(1_000)}es`],
    ['en', 'es', 'qaa en-GB es'],
    ['es', 'en', `${'x'.repeat(5_000)} es`],
    ['es', 'en', 'es_MX'],
    ['es', 'en', 'qaa_FR es_419 en_US'],
  ])(
    'selects the language "%s" for Accept-Language "%.40s" and ui_locales "%.30s"',
    async (language, accepted, uiLocales) => {
      const page = await openIn(encodeURI(accepted).replaceAll('%20', ' '), uiLocales);
      expectPage(page, 200);
      expectLanguage(page, language);
      expect(page.title).toBe(TITLES[language]);
    },
  );

  it('sends English without Accept-Language', async () => {
    const link = `${app().baseUrl}${authorizeLink(client)}`;
    const response = await getRaw(link, ['Host', new URL(link).host]);
    expect(response.headers.get('content-language')).toBe('en');
    expect(await response.text()).toContain(TITLES.en);
  });

  it('uses the language of ui_locales from the first page to the decision, and in the message', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app(), { 'accept-language': 'en' });
    const phonePage = await visitor.open(authorizeLink(client, { ui_locales: 'qaa es-MX' }));
    const wrongPhone = await visitor.submit(phonePage, SIGN_IN, {
      phone: 'nobody',
    });
    expect(wrongPhone.title).toBe('Error: Iniciar sesión – Red vecinal');
    const codePage = await visitor.submit(wrongPhone, SIGN_IN, {
      phone: user.phone,
    });
    expect(codePage.html).toContain(`<strong class="phone">${formatPhone(user.phone)}</strong>`);
    const phoneAgain = await visitor.open(linkOf(codePage, 'Usar otro número'));
    await app().sms.password(user.phone);
    app().clock.advance(61_000);
    const codeAgain = await visitor.submit(phoneAgain, SIGN_IN, {
      phone: user.phone,
    });
    const password = await app().sms.password(user.phone, { afterMessages: 1 });
    expect(app().sms.messages.at(-1)?.text).toBe(
      `Use ${password} para entrar en Red vecinal y seguir en Garden Share. Sirve durante 5 minutos. No se lo diga a nadie.\n\n` +
        `@127.0.0.1 #${password}`,
    );
    const wrongCode = await visitor.submit(codeAgain, VERIFY, { code: 'x' });
    expect(wrongCode.html).toContain('Escriba las 6 cifras del código.');
    const consent = await visitor.submit(wrongCode, VERIFY, { code: password });
    expect(consent.html).toContain('<bdi>Garden Share</bdi> quiere acceder a su cuenta');
    const incomplete = await visitor.submit(consent, DECISION, { decision: 'maybe' });
    const wrongToken = await visitor.submit(consent, DECISION, { token: 'x', decision: 'approve' });
    const signedOut = await visitor.submit(consent, SIGN_OUT);
    expect(signedOut.title).toBe(TITLES.es);
    expect(incomplete.html).toContain('Este formulario está incompleto');
    expect(wrongToken.html).toContain('Este formulario ya no es válido');
    const signInPages = [phonePage, wrongPhone, codePage, phoneAgain, codeAgain, wrongCode];
    for (const page of [...signInPages, consent, incomplete, wrongToken, signedOut])
      expectLanguage(page, 'es');
  });

  it('shows errors about an expired page and lost cookies in the language of the authorization request', async () => {
    const visitor = new Browser(app(), { 'accept-language': 'en' });
    const page = await visitor.open(authorizeLink(client, { ui_locales: 'es' }));
    app().clock.advance(24 * 3_600_000);
    const late = await visitor.submit(page, SIGN_IN, { phone: '+14155550100' });
    expect(late.title).toBe('Error: Esta página ha caducado – Red vecinal');
    visitor.cookies.clear();
    const lost = await visitor.submit(page, SIGN_IN, { phone: '+14155550100' });
    expect(lost.title).toBe('Error: Falta una cookie necesaria – Red vecinal');
  });

  it('adds ui_locales to the forms only when it changes the language', async () => {
    expect((await openIn('es')).html).not.toContain('ui_locales');
    expect((await openIn('es', 'qaa')).html).not.toContain('ui_locales');
    expect((await openIn('en', 'qaa es-MX')).html).toContain(
      '<input type="hidden" name="ui_locales" value="es">',
    );
  });

  it('ignores ui_locales on the account pages', async () => {
    const visitor = new Browser(app(), { 'accept-language': 'en' });
    expectLanguage(await visitor.open('/account/apps?ui_locales=es'), 'en');
  });

  it.each(['en', 'es'] as const)(
    'sends error descriptions to the app in English for a browser in "%s"',
    async (language) => {
      const visitor = new Browser(app(), { 'accept-language': language });
      const link = authorizeLink(client, { ui_locales: language, scope: 'nothing' });
      const { searchParams } = returnUrl((await visitor.open(link)).html);
      expect(searchParams.get('error_description')).toMatch(/^scope must contain only/);
    },
  );

  it('sends pages for developers in English for any Accept-Language', async () => {
    const headers = { 'accept-language': 'es' };
    const codes = await app().fetch('/docs/errors', { headers });
    expect(codes.headers.get('content-language')).toBe('en');
    expect(await codes.text()).toContain('<html lang="en">');
    const unknown = await app().fetch('/dev/v1/nope', { headers });
    expect(await unknown.text()).not.toMatch(/[áéíóúñ¿]/);
  });
});
