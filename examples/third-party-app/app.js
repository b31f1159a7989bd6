// @ts-check
// A third-party app that requests access from a user and then acts for them. The steps are those of README.md in this folder.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
// The client of this repository. Your app imports it from 'neighbourhood-devplatform-client'.
import {
  createClient,
  finishAuthorization,
  memoryStore,
  OAuthError,
  startAuthorization,
  verifyWebhook,
  WebhookError,
} from '#client';
import { NO_REQUEST_PAGE, NOT_FOUND_PAGE, sendPage, startPage, TEST_MODE } from './page.js';

const {
  ISSUER = 'http://localhost:3000',
  CLIENT_ID,
  CLIENT_SECRET,
  TEST_CLIENT_ID = CLIENT_ID === undefined ? 'svc_app_test_00000000000000000000000001' : undefined,
  TEST_CLIENT_SECRET,
  WEBHOOK_SECRET,
  PORT_EXAMPLE = '0',
} = process.env;
const SCOPE = 'profile.read posts.read posts.write analytics.read';

/**
 * The registrations of the app by mode: members allow the real app, and test members the test app. A confidential app has a secret. A
 * public app runs on the user's device, cannot keep a secret, and relies on PKCE.
 * @typedef {import('#client').Settings & { mode: 'live' | 'test' }} Registration
 * @type {Map<string, Registration>}
 */
const registrations = new Map();
if (CLIENT_ID !== undefined) register('live', CLIENT_ID, CLIENT_SECRET);
if (TEST_CLIENT_ID !== undefined) register('test', TEST_CLIENT_ID, TEST_CLIENT_SECRET);

/**
 * @param {Registration['mode']} mode
 * @param {string} clientId
 * @param {string | undefined} clientSecret
 */
function register(mode, clientId, clientSecret) {
  registrations.set(mode, { mode, issuer: ISSUER, clientId, clientSecret, redirectUri: '' });
}

/**
 * The pending authorization request of each browser. Only the browser that started a request may finish it.
 * @type {Map<string, { settings: Registration, pending: import('#client').PendingAuthorization }>}
 */
const pendingRequests = new Map();

/**
 * The comments that have arrived as events, by id. An event that arrives twice changes nothing.
 * @type {Map<string, import('#client').Comment>}
 */
const newComments = new Map();

const app = createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error);
    sendPage(response, 502, { title: 'Something went wrong', lead: error.message });
  });
});
app.listen(Number(PORT_EXAMPLE), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (app.address());
  for (const settings of registrations.values())
    settings.redirectUri = `http://127.0.0.1:${port}/callback`;
  console.log(`Open http://127.0.0.1:${port} in a browser. Stop with Ctrl-C.`);
});

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function handle(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  const settings = registrations.get(searchParams.get('mode') ?? '');
  if (pathname === '/')
    return sendPage(response, 200, startPage([...registrations.keys()], [...newComments.values()]));
  if (pathname === '/start' && settings) return start(settings, response);
  if (pathname === '/callback') return finish(request, response);
  if (pathname === '/events' && request.method === 'POST' && WEBHOOK_SECRET !== undefined)
    return receive(request, response, WEBHOOK_SECRET);
  return sendPage(response, 404, NOT_FOUND_PAGE);
}

/**
 * Step 1: redirect the browser to the authorization server.
 * @param {Registration} settings
 * @param {import('node:http').ServerResponse} response
 */
async function start(settings, response) {
  const browser = randomUUID();
  const { url, pending } = await startAuthorization(settings, { scope: SCOPE });
  pendingRequests.set(browser, { settings, pending });
  response.setHeader('Set-Cookie', `request=${browser}; HttpOnly; SameSite=Lax; Path=/`);
  response.writeHead(303, { Location: url }).end();
}

/**
 * Step 2: check the redirect and exchange the code. Then runs steps 3 and 4.
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function finish(request, response) {
  const browser = /(?:^|; )request=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
  const pendingRequest = pendingRequests.get(browser);
  if (!pendingRequest) return sendPage(response, 400, NO_REQUEST_PAGE);
  pendingRequests.delete(browser);
  const { settings, pending } = pendingRequest;
  try {
    const tokens = await finishAuthorization(settings, request.url ?? '', pending);
    const sections = await useAccess(settings, tokens);
    sendPage(response, 200, {
      title: 'Connected',
      lead: 'The app used its access as follows.',
      sections: settings.mode === 'test' ? [TEST_MODE, ...sections] : sections,
      buttons: [['Connect again', '/']],
    });
  } catch (error) {
    // Errors without a status came with the redirect.
    if (!(error instanceof OAuthError) || error.status !== undefined) throw error;
    sendPage(response, 200, {
      title: error.code === 'access_denied' ? 'Access denied' : 'Not connected',
      lead: 'The app has no access to your account.',
      sections: [{ heading: error.code, lines: [error.description] }],
    });
  }
}

/**
 * Steps 3 and 4: call the API as far as the granted scopes allow. The client refreshes the tokens when they have expired.
 * @param {import('#client').Settings} settings
 * @param {import('#client').Tokens} tokens
 */
async function useAccess(settings, tokens) {
  const client = createClient(settings, memoryStore(tokens));
  const granted = new Set(tokens.scopes);
  /** @type {import('./page.js').Section[]} */
  const sections = [{ heading: 'Granted scopes', lines: tokens.scopes }];
  if (granted.has('profile.read')) {
    const { name, neighborhood } = await client.getMe();
    sections.push({ heading: 'Profile', lines: [name, neighborhood ?? 'No neighborhood'] });
  }
  if (granted.has('posts.write')) {
    const content = `Hello from a third-party app, ${new Date().toISOString()}`;
    const { permalink } = await client.createPost({ body: { content } });
    sections.push({ heading: 'Published post', lines: [content], link: permalink });
  }
  if (granted.has('posts.read')) {
    const { data, meta } = await client.listPosts({ limit: 5 });
    const contents = data.map(({ content }) => content ?? 'A post without text');
    sections.push({ heading: `Newest of ${meta.total} posts`, lines: contents });
  }
  return sections;
}

/**
 * Step 5: receive an event. The platform repeats it until the response is a success.
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {string} secret
 */
async function receive(request, response, secret) {
  try {
    const { type, data } = await verifyWebhook(await text(request), request.headers, secret);
    if (type === 'comment.deleted') newComments.delete(data.comment.id);
    // Without a text, the comment was deleted in the meantime.
    if (type === 'comment.created' && 'text' in data.comment)
      newComments.set(data.comment.id, data.comment);
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    response.writeHead(400).end(error.message);
  }
}
