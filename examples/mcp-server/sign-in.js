// The sign-in in the member's browser: a public app with PKCE, and a redirect to this computer (RFC 8252).
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  CallbackError,
  finishAuthorization,
  startAuthorization,
} from 'neighbourhood-devplatform-client';
import { store } from './storage.js';

const SCOPE = 'profile.read posts.read posts.write';
let latest;

/** Waits for the redirect on a free port. Returns the link for the browser. */
export async function startSignIn(settings) {
  latest?.close();
  const server = createServer();
  latest = server;
  server.listen({ host: '127.0.0.1', port: 0, signal: AbortSignal.timeout(10 * 60_000) }).unref();
  await once(server, 'listening');
  const app = { ...settings, redirectUri: `http://127.0.0.1:${server.address().port}/callback` };
  const { url, pending } = await startAuthorization(app, { scope: SCOPE });
  server.on('request', async (request, response) => {
    const [status, text] = await finishSignIn(app, request.url, pending);
    const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };
    response.writeHead(status, headers).end(text);
    if (status !== 404) server.close();
  });
  return url;
}

/** Returns the status and the text of the page that the member sees. 404 if the request is not the redirect. */
async function finishSignIn(app, path, pending) {
  if (!path.startsWith('/callback?')) return [404, 'Page not found.'];
  try {
    const tokens = await finishAuthorization(app, path, pending);
    await store.lock(() => store.set(tokens));
    return [200, 'You are signed in. Close this window and return to your agent.'];
  } catch (error) {
    // Any page in the browser can send a request to this port. It does not know `state`, so it cannot end the sign-in.
    if (error instanceof CallbackError) return [404, error.message];
    return [400, `You are not signed in. ${error.message}`];
  }
}
