import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { usePartnerSite } from '../../support/chromium.js';
import { sqliteFile } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { authorizeLink, exchange } from '../../support/oauth-flow.js';
import { findProgram } from '../../support/programs.js';
import { json, type TokenBody } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

interface TextBrowser {
  program: string;
  options: string;
  /** The keys that move to the next and to the previous link or field, and that ask for an address. */
  next: string;
  previous: string;
  address: string;
  /** Text is entered in a prompt, which the Enter key opens and closes. */
  hasPrompt?: boolean;
  /** Shows a window at the first start. */
  welcomes?: boolean;
}

const ARROWS = { next: 'Down', previous: 'Up', address: 'g' };
const BROWSERS: TextBrowser[] = [
  {
    program: 'w3m',
    options: '-cookie -o accept_cookie=1',
    next: 'Tab',
    previous: 'BTab',
    address: 'U',
    hasPrompt: true,
  },
  { program: 'lynx', options: '-accept_all_cookies', ...ARROWS },
  { program: 'links2', options: '', ...ARROWS, welcomes: true },
  {
    program: 'elinks',
    options:
      '-eval "set document.browse.forms.confirm_submit = 0" -eval "set document.browse.forms.insert_mode = 0"',
    ...ARROWS,
    welcomes: true,
  },
];

const tmux = await findProgram('tmux');

for (const browser of BROWSERS) {
  const { program, options, next, previous } = browser;
  const path = await findProgram(program);
  const isInstalled = tmux !== undefined && path !== undefined;
  const place = isInstalled ? program : `${program} (skipped: install tmux and ${program})`;
  describe.skipIf(!isInstalled)(`Pages in ${place}`, () => {
    const app = useTestApp(sqliteFile());
    const folder = useFolder();
    let received = '';
    const site = usePartnerSite(({ url = '' }, response) => {
      received = url;
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>App</title><h1>Back at the app</h1>');
    });

    async function terminal(...command: string[]): Promise<string> {
      const env = { ...process.env, HOME: folder };
      const socket = ['-u', '-f', '/dev/null', '-S', `${folder}/tmux`];
      const { stdout } = await promisify(execFile)(tmux ?? '', [...socket, ...command], { env });
      return stdout;
    }
    afterEach(() => terminal('kill-server'));

    const screen = (): Promise<string> => terminal('capture-pane', '-p');
    const press = (...keys: string[]): Promise<string> => terminal('send-keys', ...keys);
    const see = (text: string): Promise<void> =>
      expect.poll(screen, { timeout: 10_000 }).toContain(text);

    async function cursorLine(): Promise<string> {
      const row = Number(await terminal('display-message', '-p', '#{cursor_y}'));
      return (await screen()).split('\n')[row] ?? '';
    }

    /** Moves the cursor to the next link, button or checkbox in a line with this text. */
    async function moveTo(text: string): Promise<void> {
      for (let steps = 0; !(await cursorLine()).includes(text); steps += 1) {
        if (steps === 30) throw new Error(`No link "${text}":\n${await screen()}`);
        await press(next);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }

    async function follow(text: string): Promise<void> {
      await moveTo(text);
      await press('Enter');
    }

    /** Fills in the field before a button, and presses the button. */
    async function send(value: string, button: string): Promise<void> {
      await moveTo(button);
      await press(previous);
      // Otherwise the value and Enter could arrive before the cursor has moved.
      await expect.poll(cursorLine).not.toContain(button);
      if (browser.hasPrompt) await press('Enter');
      await press('-l', value);
      if (browser.hasPrompt) await press('Enter');
      await follow(button);
    }

    it('O147 O148 lead through the whole sign-in, and to the account', async () => {
      const client = await app().addClient({ redirectUris: [`${site()}/callback`] });
      const user = await app().addUser({ name: 'Ana Lee' });
      const link = `${app().baseUrl}${authorizeLink(client)}`;
      const size = ['-x', '100', '-y', '60'];
      await terminal('new-session', '-d', ...size, `${path} ${options} '${link}'`);
      if (browser.welcomes) {
        await see('Welcome');
        await press('Enter');
      }
      await see('Your phone number');
      await send(user.phone, 'Send me a code');
      await see('6-digit code');
      await send('000000', 'Continue');
      await see('That code is wrong.');
      await send(await app().sms.password(user.phone), 'Continue');
      await see('Garden Share will be able to');
      await follow('Publish and delete posts');
      await see('[ ] Publish and delete posts');
      await follow('Allow');
      await see('Back at the app');
      const code = new URL(received, site()).searchParams.get('code') ?? '';
      const { scope } = await json<TokenBody>(await exchange(app(), client, code));
      expect(scope).toBe('profile.read posts.read analytics.read');

      await press(browser.address);
      await press('C-u');
      await press('-l', `${app().baseUrl}/account/apps`);
      await press('Enter');
      await see('Ana Lee');
      await follow('Disconnect');
      await see('Keep it connected');
      await follow('Disconnect');
      await see('Garden Share no longer has access.');
      await follow('Sign out');
      await see('Your phone number');
      expect(app().sms.count(user.phone)).toBe(1);
    }, 120_000);
  });
}
