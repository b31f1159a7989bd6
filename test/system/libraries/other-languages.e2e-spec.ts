import { onOneEngine } from '../../support/database.js';
import { useTestApp } from '../../support/test-app.js';
import { type Installed, opening, type Recipe, testRecipes } from './flows.js';
import type { PartnerBrowser } from './partner-browser.js';
import { FOLDER } from './recipe-process.js';

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
const perl = (module: string, install: string): Installed => ({
  install,
  interpreters: ['/usr/bin/perl', 'perl'],
  probe: [`-M${module}`, '-e', '1'],
});
/** In a session of a person, httr2 opens the link in the browser. */
const R_SESSION =
  'options(rlang_interactive = TRUE, browser = function(url) cat("Open", url, "\\n")); source("r-httr2.R")';

/** Debian installs Go libraries outside of modules. */
const GO_ENV = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' };
const go = (path: string, install: string): Installed => ({
  install,
  interpreters: ['go'],
  probe: ['list', path],
  env: GO_ENV,
});

/** The service of the tests is not https. */
const PLAIN_HTTP = { OAUTHLIB_INSECURE_TRANSPORT: '1' };

/** OmniAuth accepts only a POST with the token of its form. */
async function submitOmniAuth(browser: PartnerBrowser): Promise<string> {
  const form = await browser.text('/');
  const token = /value=([^>]+)>/.exec(form)?.[1] ?? '';
  const body = new URLSearchParams({ authenticity_token: token });
  const response = await browser.open('/auth/us', { method: 'POST', body });
  return response.headers.get('location') ?? '';
}

/** django-allauth asks before it sends the user to the service. */
async function submitAllauth(browser: PartnerBrowser): Promise<string> {
  const path = '/accounts/neighbourhood/login/';
  const [, token = ''] = /csrfmiddlewaretoken" value="(\w+)"/.exec(await browser.text(path)) ?? [];
  const body = new URLSearchParams({ csrfmiddlewaretoken: token });
  const response = await browser.open(path, { method: 'POST', body });
  return response.headers.get('location') ?? '';
}

const DJANGO_HOST = '../../test/system/libraries/django-host.py';

const flask = (file: string): string[] => ['-m', 'flask', '--app', file, 'run'];
const RACK = ['-S', 'rackup', '--server', 'webrick', '--host', '127.0.0.1', '--port', '{port}'];

const RECIPES: Recipe[] = [
  {
    file: 'python-requests-oauthlib.py',
    needs: python('requests_oauthlib', 'python3-requests-oauthlib'),
    env: PLAIN_HTTP,
  },
  { file: 'ruby-oauth2.rb', needs: ruby('oauth2', 'ruby-oauth2') },
  {
    file: 'go-x-oauth2.go',
    needs: go('golang.org/x/oauth2', 'golang-go and golang-golang-x-oauth2-dev'),
    run: ['run', 'go-x-oauth2.go', 'helpers.go'],
    env: GO_ENV,
  },
  {
    file: 'python-flask-dance.py',
    needs: python('flask_dance', 'python3-flask-dance'),
    run: flask('python-flask-dance.py'),
    env: PLAIN_HTTP,
    site: { callbackPath: '/us/authorized', signIn: opening('/us') },
  },
  {
    file: 'python-authlib.py',
    needs: python('authlib, flask', 'python3-authlib and python3-flask'),
    run: flask('python-authlib.py'),
    site: { callbackPath: '/callback', signIn: opening('/login') },
  },
  {
    file: 'python-social-auth.py',
    needs: python('social_django', 'python3-social-django'),
    run: [DJANGO_HOST, 'social'],
    site: {
      callbackPath: '/complete/neighbourhood/',
      signIn: opening('/login/neighbourhood/'),
      profilePath: '/profile',
    },
  },
  {
    file: 'python-django-allauth-views.py',
    needs: python('allauth', 'python3-django-allauth'),
    run: [DJANGO_HOST, 'allauth'],
    site: {
      callbackPath: '/accounts/neighbourhood/login/callback/',
      signIn: submitAllauth,
      profilePath: '/profile',
    },
  },
  {
    file: 'perl-lwp-authen-oauth2.pl',
    needs: perl('LWP::Authen::OAuth2', 'liblwp-authen-oauth2-perl'),
  },
  {
    file: 'perl-mojolicious.pl',
    needs: perl('Mojolicious::Plugin::OAuth2', 'libmojolicious-plugin-oauth2-perl'),
    run: ['perl-mojolicious.pl', 'daemon', '--listen', 'http://127.0.0.1:{port}'],
    site: { callbackPath: '/callback', signIn: opening('/login') },
  },
  {
    file: 'r-httr2.R',
    needs: {
      install: 'r-cran-httr2, r-cran-httpuv and r-cran-jsonlite',
      interpreters: ['Rscript'],
      probe: ['-e', 'library(httr2); library(httpuv); library(jsonlite)'],
    },
    run: ['-e', R_SESSION],
    listening: /Waiting for authentication/,
  },
  {
    file: 'ruby-omniauth.ru',
    needs: ruby('omniauth-oauth2', 'ruby-omniauth-oauth2 and ruby-webrick'),
    run: [...RACK, 'ruby-omniauth.ru'],
    site: { callbackPath: '/auth/us/callback', signIn: submitOmniAuth },
  },
  {
    file: 'php-league.php',
    needs: {
      install: `PHP and \`composer install\` in ${FOLDER}`,
      interpreters: ['php'],
      probe: ['-r', `require '${FOLDER}/vendor/autoload.php';`],
    },
    run: ['-S', '127.0.0.1:{port}', 'php-league.php'],
    site: { callbackPath: '/callback', signIn: opening('/login') },
  },
];

onOneEngine('Recipes in other languages', (database) => {
  testRecipes(useTestApp(database), RECIPES);
});
