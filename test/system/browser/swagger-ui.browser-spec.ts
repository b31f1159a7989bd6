import { join } from 'node:path';
import { ana, ben, DEMO_CODE, DemoService } from '../../../src/modules/demo/demo.service.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { runCommand } from '../../support/command-line.js';
import { inChromium, SCREENSHOTS } from '../../support/chromium.js';
import { SwaggerUi } from '../../support/swagger-ui.js';
import { IS_QUICK } from '../../suite.js';

const VIEWPORT = { width: 1280, height: 900 };

inChromium('Swagger UI', { env: { DEMO: '1' } }, (chrome) => {
  const { app } = chrome;
  let docs: SwaggerUi;

  beforeAll(async () => {
    await app().service(DemoService).seedIfNeeded();
  });

  /** Opens the documentation in a new browser. */
  beforeEach(async () => {
    docs = new SwaggerUi(chrome, await chrome.newPage({ viewport: VIEWPORT }));
    await chrome.open(docs.page, '/docs');
  });

  /** Without the one about the photo of the demo user, whose host does not exist. */
  const consoleErrors = (): string[] =>
    chrome.consoleErrors.filter((message) => !message.includes('ERR_NAME_NOT_RESOLVED'));

  it('O147 C142 authorizes with a sign-in and calls GET /dev/v1/me', async () => {
    await docs.tokens({ ...ana, code: DEMO_CODE });
    await docs.page.screenshot({ path: join(SCREENSHOTS, 'docs-authorized.png') });
    await docs.closeDialog();
    const { status, body } = await docs.executeGetMe();
    await docs.page.screenshot({ path: join(SCREENSHOTS, 'docs-me.png') });
    expect(status).toBe('200');
    expect(body).toContain('"name": "Ana Lee"');
    expect(consoleErrors()).toEqual([]);
  });

  it('opens Authorize on the OAuth flow, with the credentials of apps folded and without the focus', async () => {
    await docs.page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const username = docs.dialog.locator('#auth-basic-username');
    await docs.dialog.getByText('Credentials of an app').waitFor();
    expect(await username.isVisible()).toBe(false);
    expect(await username.evaluate((input) => input === document.activeElement)).toBe(false);
    await docs.dialog.getByText('Credentials of an app').click();
    expect(await username.isVisible()).toBe(true);
  });

  it('prefills no header and folds the responses of an operation until it is executed', async () => {
    await docs.page.locator('.opblock[id$="-getMe"] .opblock-summary-control').click();
    const operation = docs.page.locator('.opblock[id$="-getMe"]');
    await operation.getByText('Responses', { exact: true }).first().waitFor();
    expect(await operation.locator('.responses-table').first().isVisible()).toBe(false);
    for (const input of await operation.locator('.parameters input').all())
      expect(await input.inputValue()).toBe('');
    await operation.getByRole('button', { name: 'Execute' }).click();
    await operation.locator('.live-responses-table').waitFor();
  });

  it.skipIf(IS_QUICK).each([
    ['token', {}, { grant_type: 'authorization_code' }],
    [
      'token',
      { client_id: 'svc_app_x' },
      { grant_type: 'authorization_code', client_id: 'svc_app_x' },
    ],
    ['revoke', { token: 'svcat_x' }, { token: 'svcat_x' }],
    ['introspect', { token: 'svcat_x' }, { token: 'svcat_x' }],
  ])(
    'sends of the form of %s only the fields that are filled in: %j',
    async (name, fields, sent) => {
      const operation = docs.page.locator(`.opblock[id$="-oauth-${name}"]`);
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'Execute' }).waitFor();
      for (const input of await operation.locator('.body input[type=text]').all())
        expect(await input.inputValue()).toBe('');
      for (const [field, value] of Object.entries(fields))
        await operation.locator(`tr[data-property-name=${field}] input[type=text]`).fill(value);
      const [request] = await Promise.all([
        docs.page.waitForRequest((one) => one.method() === 'POST' && one.url().includes('/oauth/')),
        operation.getByRole('button', { name: 'Execute' }).click(),
      ]);
      expect(Object.fromEntries(new URLSearchParams(request.postData() ?? ''))).toEqual(sent);
    },
  );

  it('follows the dark mode of the system', async () => {
    const background = (): Promise<string> =>
      docs.page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await background()).toBe('rgb(250, 250, 250)');
    await docs.page.emulateMedia({ colorScheme: 'dark' });
    await docs.page.reload();
    await docs.page.locator('.opblock').first().waitFor();
    expect(await background()).toBe('rgb(28, 32, 34)');
  });

  it('C142 executes the prefilled examples: publish, publish again, list', async () => {
    await docs.tokens({ ...ana, code: DEMO_CODE });
    await docs.closeDialog();
    const first = await docs.execute('createPost');
    await docs.page.screenshot({ path: join(SCREENSHOTS, 'docs-published.png'), fullPage: true });
    expect(first.status).toBe('201');
    expect(first.body).toContain('"title": "Block party on Saturday"');
    const second = await docs.executeAgain('createPost', '{"title": "Another one"}');
    expect(second.status).toBe('201');
    expect(second.body).toContain('"title": "Another one"');
    const list = await docs.execute('listPosts');
    expect(list.status).toBe('200');
    expect(list.body).toContain('"total": 5');
    expect(list.body).toContain('"permalink"');
    expect(consoleErrors()).toEqual([]);
  });

  it('O147 shows an error after Cancel and has no token', async () => {
    await docs.authorize({ ...ben, code: DEMO_CODE }, 'deny');
    const errors = docs.dialog.locator('.errors');
    await expect.poll(() => errors.count()).toBe(1);
    expect(await errors.innerText()).toContain('The user denied access.');
    await docs.page.screenshot({ path: join(SCREENSHOTS, 'docs-denied.png') });
    expect(consoleErrors()).toEqual([]);
    await docs.closeDialog();
    const { status, body } = await docs.executeGetMe();
    expect(status).toBe('401');
    expect(body).toContain('"error": "unauthorized"');
  });
});

inChromium('Swagger UI without a demo', { env: { DEMO: '0' } }, (chrome) => {
  const { app } = chrome;

  async function openDocs(): Promise<SwaggerUi> {
    const docs = new SwaggerUi(chrome, await chrome.newPage({ viewport: VIEWPORT }));
    await chrome.open(docs.page, '/docs');
    await docs.page.locator('.opblock').first().waitFor();
    return docs;
  }

  const authorizeButtons = ({ page }: SwaggerUi): Promise<number> =>
    page.locator('button.authorize, button.authorization__btn').count();

  it.skipIf(IS_QUICK)(
    'C142 has no Authorize until "app create --docs", and then runs the flow, without a restart',
    async () => {
      expect(await authorizeButtons(await openDocs())).toBe(0);
      // The command runs in this process, on the database of the application.
      const { address } = app().config.database;
      const file = address.engine === 'sqlite' ? address.file : '';
      const env = { DATABASE_URL: `sqlite:${file}`, PUBLIC_URL: app().baseUrl };
      const created = await runCommand(['app', 'create', '--docs', '--json'], env);
      expect(created).toMatchObject({ code: 0, stderr: '' });
      const { client_id, type, redirect_uris, scopes } = JSON.parse(created.stdout) as Record<
        string,
        unknown
      >;
      expect({ type, redirect_uris, scopes }).toEqual({
        type: 'public',
        redirect_uris: [`${app().baseUrl}/docs/oauth2-redirect.html`],
        scopes: SCOPES,
      });
      const docs = await openDocs();
      expect(await authorizeButtons(docs)).toBeGreaterThan(1);
      await docs.tokens(await app().addUser({ name: 'Ana Lee' }));
      await docs.closeDialog();
      expect((await docs.executeGetMe()).body).toContain('"name": "Ana Lee"');

      const again = await runCommand(['app', 'create', '--docs'], env);
      expect(again).toEqual({
        code: 1,
        stdout: '',
        stderr: `The documentation already uses the app "API documentation" (${String(client_id)}). To replace it, disable it first.\n`,
      });
      expect(await runCommand(['app', 'disable', String(client_id), '--yes'], env)).toMatchObject({
        code: 0,
      });
      expect(await authorizeButtons(await openDocs())).toBe(0);
    },
  );
});
