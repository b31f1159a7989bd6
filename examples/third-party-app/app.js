// A third-party app that requests access from a user and then acts for them. The steps are those of README.md in this folder.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';
import { dataOf, developerApi } from './api.js';

const {
  ISSUER = 'http://localhost:3000',
  CLIENT_ID = 'svc_app_00000000000000000000000001',
  CLIENT_SECRET,
  PORT_EXAMPLE = '0',
} = process.env;
const SCOPE = 'profile.read posts.read posts.write analytics.read';

/** The authorization server. Every authorization response must contain its issuer (RFC 9207). */
const server = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/oauth/authorize`,
  token_endpoint: `${ISSUER}/oauth/token`,
  authorization_response_iss_parameter_supported: true,
};
const client = { client_id: CLIENT_ID };
/** A confidential app sends its secret. A public app runs on the user's device, cannot keep a secret, and relies on PKCE. */
const clientAuthentication = CLIENT_SECRET ? oauth.ClientSecretBasic(CLIENT_SECRET) : oauth.None();
/** Allows plain http, for development on loopback. */
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://') };

/** State and PKCE verifier of each pending authorization request, by browser. Only the browser that started a request may finish it. */
const pendingRequests = new Map();

const app = createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error);
    page(response, 502, 'Something went wrong', [error.message]);
  });
});
app.listen(Number(PORT_EXAMPLE), '127.0.0.1', () => {
  console.log(`Open ${home()} in a browser. Stop with Ctrl-C.`);
});

const home = () => `http://127.0.0.1:${app.address().port}`;
const redirectUri = () => `${home()}/callback`;

async function handle(request, response) {
  const url = new URL(request.url, home());
  if (url.pathname === '/') return startAuthorization(response);
  if (url.pathname === '/callback') return finishAuthorization(request, response, url);
  return page(response, 404, 'Not found', []);
}

/** Step 1: redirect the browser to the authorization server with a random state and PKCE challenge. */
async function startAuthorization(response) {
  const browser = randomUUID();
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  pendingRequests.set(browser, { state, verifier });
  const link = new URL(server.authorization_endpoint);
  link.search = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: redirectUri(),
    scope: SCOPE,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  response.setHeader('Set-Cookie', `request=${browser}; HttpOnly; SameSite=Lax; Path=/`);
  response.writeHead(303, { Location: link.href }).end();
}

/** Step 2: validate `state` and `iss`, and exchange the code. Then runs steps 3 and 4. */
async function finishAuthorization(request, response, url) {
  const browser = /(?:^|; )request=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  const pending = pendingRequests.get(browser);
  if (!pending) return page(response, 400, 'Start again', ['This browser has no pending request.']);
  pendingRequests.delete(browser);

  let callbackParameters;
  try {
    callbackParameters = oauth.validateAuthResponse(server, client, url, pending.state);
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw error;
    return page(response, 200, 'Access denied', [`${error.error}: ${error.error_description}`]);
  }
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      clientAuthentication,
      callbackParameters,
      redirectUri(),
      pending.verifier,
      options,
    ),
  );
  page(response, 200, 'It works', await useAccess(tokens));
}

/** Steps 3 and 4: call the API as far as the granted scopes allow, and refresh the tokens. */
async function useAccess(tokens) {
  const granted = new Set(tokens.scope.split(' '));
  const api = developerApi(ISSUER, tokens.access_token);
  const lines = [`Granted: ${tokens.scope}`];
  if (granted.has('profile.read')) {
    const { name, neighborhood } = await dataOf(api.GET('/dev/v1/me'));
    lines.push(`Signed in: ${name}, ${neighborhood}`);
  }
  if (granted.has('posts.write')) {
    const content = `Hello from a third-party app, ${new Date().toISOString()}`;
    const { permalink } = await dataOf(api.POST('/dev/v1/posts', { body: { content } }));
    lines.push(`Published: ${permalink}`);
  }
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(
      server,
      client,
      clientAuthentication,
      tokens.refresh_token,
      options,
    ),
  );
  lines.push(`Refreshed: a new access token for ${refreshed.expires_in} seconds`);
  if (granted.has('posts.read')) {
    const { data, meta } = await dataOf(
      developerApi(ISSUER, refreshed.access_token).GET('/dev/v1/posts', {
        params: { query: { limit: 5 } },
      }),
    );
    lines.push(`Posts: ${meta.total}, the newest says "${data[0]?.content ?? 'nothing'}"`);
  }
  return lines;
}

function page(response, status, title, lines) {
  const list = lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('\n');
  const html = `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>
<ul>\n${list}\n</ul><p><a href="/">Run it again</a></p></html>`;
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' }).end(html);
}

function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
