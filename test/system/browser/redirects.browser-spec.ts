import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { Page } from 'playwright-core';
import { exchange } from '../../support/oauth-flow.js';
import { CertificateAuthority, readPem } from '../../support/certificates.js';
import { inChromium } from '../../support/chromium.js';
import { useFolder } from '../../support/folder.js';
import { freePort } from '../../support/free-port.js';
import type { TestClient } from '../../support/test-app.js';

const NATIVE_REDIRECT_URI = 'com.example.app:/cb';
const PAGE = '<!doctype html><title>Back at the app</title><link rel="icon" href="data:,">';

/** Makes Chromium connect to this machine for each host of `.example`. */
const settings = { args: ['--host-resolver-rules=MAP *.example 127.0.0.1'] };

inChromium('Redirects after Allow', settings, (chrome) => {
  const folder = useFolder();
  let server: Server;
  let port: number;
  /** The requests to the app, in order: host, path and query. */
  let requests: string[];

  /** Starts the app's server: `/callback` is a page, the other paths redirect with the same query. */
  beforeAll(async () => {
    port = await freePort();
    const redirects: Record<string, string> = {
      '/to-other-host': `https://app.example:${port}/callback`,
      '/to-native': NATIVE_REDIRECT_URI,
    };
    // The browser context trusts any certificate.
    const { cert, key } = await CertificateAuthority.create(folder, 'app.example');
    const credentials = { cert: await readPem(cert), key: await readPem(key) };
    server = createServer(credentials, (request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'https://app.example');
      requests.push(`${request.headers.host}${pathname}${search}`);
      const target = redirects[pathname];
      if (target !== undefined) response.writeHead(302, { location: `${target}${search}` }).end();
      else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });
  beforeEach(() => {
    requests = [];
  });

  async function consentFor(redirectUri: string): Promise<{ page: Page; client: TestClient }> {
    const client = await chrome.app().addClient({ kind: 'public', redirectUris: [redirectUri] });
    const page = await chrome.openAuthorization(await chrome.newContext(), client);
    await chrome.signIn(page, await chrome.app().addUser());
    return { page, client };
  }

  async function expectCodeFor(client: TestClient, address: string): Promise<void> {
    const code = new URLSearchParams(address.slice(address.indexOf('?'))).get('code') ?? '';
    expect((await exchange(chrome.app(), client, code)).status).toBe(200);
  }

  function policyErrors(): string[] {
    return chrome.consoleErrors.filter((message) => /Content Security Policy/i.test(message));
  }

  it.each([
    ['O147 sends the code to an https callback', '/callback'],
    ['O28 allows a callback to redirect to another origin', '/to-other-host'],
  ])('%s', async (_, path) => {
    const { page, client } = await consentFor(`https://api.example:${port}${path}`);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/callback\?/);
    expect(await page.title()).toBe('Back at the app');
    expect(chrome.consoleErrors).toEqual([]);
    await expectCodeFor(client, page.url());
  });

  it('O147 redirects to a private-use scheme', async () => {
    const { page, client } = await consentFor(NATIVE_REDIRECT_URI);
    const decision = page.waitForResponse((response) => response.url().endsWith('/decision'));
    await page.getByRole('button', { name: 'Allow' }).click();
    const location = (await (await decision).headerValue('location')) ?? '';
    expect(location.slice(0, location.indexOf('?'))).toBe(NATIVE_REDIRECT_URI);
    // Chromium reports a violation of the policy after the navigation.
    await page.waitForTimeout(200);
    expect(policyErrors()).toEqual([]);
    await expectCodeFor(client, location);
  });

  it('O28 allows a callback to redirect to an installed app', async () => {
    const { page, client } = await consentFor(`https://api.example:${port}/to-native`);
    await page.getByRole('button', { name: 'Allow' }).click();
    await expect.poll(() => requests).toHaveLength(1);
    // Chromium reports a violation of the policy after the navigation.
    await page.waitForTimeout(200);
    expect(policyErrors()).toEqual([]);
    await expectCodeFor(client, requests[0] ?? '');
  });
});
