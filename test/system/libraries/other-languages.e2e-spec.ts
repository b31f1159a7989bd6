import { execFileSync } from 'node:child_process';
import { onOneEngine } from '../../support/database.js';
import { useTestApp } from '../../support/test-app.js';
import { IS_QUICK } from '../../suite.js';
import {
  NO_PROFILE,
  openInOtherBrowser,
  opening,
  otherState,
  runInTerminal,
  signInToSite,
  type SiteRecipe,
  USER,
} from './flows.js';
import type { PartnerBrowser } from './partner-browser.js';
import { FOLDER } from './recipe-process.js';

/** The recipes that this machine has the interpreter and the library for, with how to run them. */
interface Installed {
  /** The first of these interpreters that can load the library. */
  interpreters: string[];
  /** Parameters of a command that fails without the library. */
  probe: string[];
  env?: Record<string, string>;
  /** What to install. */
  install: string;
}

const python = (module: string, install: string): Installed => ({
  install,
  interpreters: ['python3', '/usr/bin/python3'],
  probe: ['-c', `import ${module}`],
});
const ruby = (library: string, install: string): Installed => ({
  install,
  interpreters: ['ruby', '/usr/bin/ruby'],
  probe: ['-e', `require "${library}"`],
});
/** Debian installs Go libraries outside of modules. */
const GO_ENV = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' };
const go = (path: string, install: string): Installed => ({
  install,
  interpreters: ['go'],
  probe: ['list', path],
  env: GO_ENV,
});

function interpreterOf({ interpreters, probe, env }: Installed): string | undefined {
  return interpreters.find((interpreter) => {
    try {
      execFileSync(interpreter, probe, { stdio: 'ignore', env: { ...process.env, ...env } });
      return true;
    } catch {
      return false;
    }
  });
}

function missing({ install }: Installed): string {
  return `The recipe needs ${install}.`;
}

interface TerminalCase {
  file: string;
  needs: Installed;
  run: string[];
  env?: Record<string, string>;
}

/** The service of the tests is not https. */
const PLAIN_HTTP = { OAUTHLIB_INSECURE_TRANSPORT: '1' };

const TERMINAL: TerminalCase[] = [
  {
    file: 'python-requests-oauthlib.py',
    needs: python('requests_oauthlib', 'python3-requests-oauthlib'),
    run: ['python-requests-oauthlib.py'],
    env: PLAIN_HTTP,
  },
  { file: 'ruby-oauth2.rb', needs: ruby('oauth2', 'ruby-oauth2'), run: ['ruby-oauth2.rb'] },
  {
    file: 'go-x-oauth2.go',
    needs: go('golang.org/x/oauth2', 'golang-go and golang-golang-x-oauth2-dev'),
    run: ['run', 'go-x-oauth2.go', 'helpers.go'],
    env: GO_ENV,
  },
];

/** OmniAuth accepts only a POST with the token of its form. */
async function submitOmniAuth(browser: PartnerBrowser): Promise<string> {
  const form = await browser.text('/');
  const token = /value=([^>]+)>/.exec(form)?.[1] ?? '';
  const body = new URLSearchParams({ authenticity_token: token });
  const response = await browser.open('/auth/us', { method: 'POST', body });
  return response.headers.get('location') ?? '';
}

const flask = (file: string): string[] => ['-m', 'flask', '--app', file, 'run'];

interface SiteCase extends Omit<SiteRecipe, 'command'> {
  file: string;
  needs: Installed;
  run: string[];
}

const SITES: SiteCase[] = [
  {
    file: 'python-flask-dance.py',
    needs: python('flask_dance', 'python3-flask-dance'),
    run: flask('python-flask-dance.py'),
    callbackPath: '/us/authorized',
    signIn: opening('/us'),
    env: PLAIN_HTTP,
  },
  {
    file: 'python-authlib.py',
    needs: python('authlib, flask', 'python3-authlib and python3-flask'),
    run: flask('python-authlib.py'),
    callbackPath: '/callback',
    signIn: opening('/login'),
  },
  {
    file: 'ruby-omniauth.ru',
    needs: ruby('omniauth-oauth2', 'ruby-omniauth-oauth2 and ruby-webrick'),
    run: [
      '-S',
      'rackup',
      '--server',
      'webrick',
      '--host',
      '127.0.0.1',
      '--port',
      '{port}',
      'ruby-omniauth.ru',
    ],
    callbackPath: '/auth/us/callback',
    signIn: submitOmniAuth,
  },
  {
    file: 'php-league.php',
    needs: {
      install: `PHP and \`composer install\` in ${FOLDER}`,
      interpreters: ['php'],
      probe: ['-r', `require '${FOLDER}/vendor/autoload.php';`],
    },
    run: ['-S', '127.0.0.1:{port}', 'php-league.php'],
    callbackPath: '/callback',
    signIn: opening('/login'),
  },
];

onOneEngine('Recipes in other languages', (database) => {
  const app = useTestApp(database);

  it.for(TERMINAL)(
    '$file completes the flow and reads the profile',
    async ({ needs, run, env }, { skip }) => {
      const command = [interpreterOf(needs) ?? skip(missing(needs)), ...run];
      expect(await runInTerminal(app(), command, { env })).toContain(USER);
    },
  );

  it.for(SITES)(
    '$file completes the flow and reads the profile',
    async ({ needs, run, ...recipe }, { skip }) => {
      const command = [interpreterOf(needs) ?? skip(missing(needs)), ...run];
      expect(await signInToSite(app(), { ...recipe, command })).toContain(USER);
    },
  );

  describe.skipIf(IS_QUICK)('attacked', () => {
    it.for(TERMINAL)('$file rejects another state', async ({ needs, run, env }, { skip }) => {
      const command = [interpreterOf(needs) ?? skip(missing(needs)), ...run];
      const output = runInTerminal(app(), command, { env, change: otherState });
      await expect(output).rejects.toThrow(/exited with [12]/);
    });

    it.for(SITES)('$file rejects another state', async ({ needs, run, ...recipe }, { skip }) => {
      const command = [interpreterOf(needs) ?? skip(missing(needs)), ...run];
      const page = signInToSite(app(), { ...recipe, command }, otherState);
      await expect(page).rejects.toThrow(NO_PROFILE);
    });

    it.for(SITES)(
      '$file rejects the redirect of another browser',
      async ({ needs, run, ...recipe }, { skip }) => {
        const command = [interpreterOf(needs) ?? skip(missing(needs)), ...run];
        expect(await openInOtherBrowser(app(), { ...recipe, command })).not.toContain(USER);
      },
    );
  });
});
