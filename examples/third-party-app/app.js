// A third-party app: asks a member of the network for access, then acts for them. See README.md beside this file.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';
import { answerOf, developerApi } from './api.js';

const {
  ISSUER = 'http://localhost:3000',
  CLIENT_ID = 'svc_app_00000000000000000000000001',
  CLIENT_SECRET,
  PORT_EXAMPLE = '0',
} = process.env;
const SCOPE = 'profile.read posts.read posts.write analytics.read';

/** The authorization server. With the issuer set, every answer must name it (RFC 9207). */
const server = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/oauth/authorize`,
  token_endpoint: `${ISSUER}/oauth/token`,
  authorization_response_iss_parameter_supported: true,
};
const client = { client_id: CLIENT_ID };
/** An app that runs on somebody else's device can keep no secret: there, PKCE alone proves who asks. */
const proof = CLIENT_SECRET ? oauth.ClientSecretBasic(CLIENT_SECRET) : oauth.None();
/** Plain http is for loopback only. */
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://') };

/** What was asked, by browser, until the answer comes: nobody else may finish what one browser began. */
const asked = new Map();

const app = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error);
    page(response, 502, 'It did not work', [error.message]);
  });
});
app.listen(Number(PORT_EXAMPLE), '127.0.0.1', () => {
  console.log(`Open ${home()} in a browser. Stop with Ctrl-C.`);
});

const home = () => `http://127.0.0.1:${app.address().port}`;
const redirectUri = () => `${home()}/callback`;

async function answer(request, response) {
  const url = new URL(request.url, home());
  if (url.pathname === '/') return askForAccess(response);
  if (url.pathname === '/callback') return finish(request, response, url);
  return page(response, 404, 'Nothing here', []);
}

/** Step 1: send the browser to the authorization server, with a state and a PKCE challenge nobody can guess. */
async function askForAccess(response) {
  const browser = randomUUID();
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  asked.set(browser, { state, verifier });
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
  response.setHeader('Set-Cookie', `asked=${browser}; HttpOnly; SameSite=Lax; Path=/`);
  response.writeHead(303, { Location: link.href }).end();
}

/** Step 2: the browser is back. Compare state and issuer, exchange the code, and use the tokens. */
async function finish(request, response, url) {
  const browser = /(?:^|; )asked=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  const question = asked.get(browser);
  if (!question) return page(response, 400, 'Start again', ['This browser asked for nothing.']);
  asked.delete(browser);

  let callback;
  try {
    callback = oauth.validateAuthResponse(server, client, url, question.state);
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw error;
    return page(response, 200, 'No access', [`${error.error}: ${error.error_description}`]);
  }
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      proof,
      callback,
      redirectUri(),
      question.verifier,
      options,
    ),
  );
  page(response, 200, 'It works', await useAccess(tokens));
}

/** Step 3: act for the member, as far as they allowed it, and get new tokens without them. */
async function useAccess(tokens) {
  const granted = new Set(tokens.scope.split(' '));
  const api = developerApi(ISSUER, tokens.access_token);
  const lines = [`Granted: ${tokens.scope}`];
  if (granted.has('profile.read')) {
    const { name, neighborhood } = await answerOf(api.GET('/dev/v1/me'));
    lines.push(`Signed in: ${name}, ${neighborhood}`);
  }
  if (granted.has('posts.write')) {
    const content = `Hello from a third-party app, ${new Date().toISOString()}`;
    const { permalink } = await answerOf(api.POST('/dev/v1/posts', { body: { content } }));
    lines.push(`Published: ${permalink}`);
  }
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, proof, tokens.refresh_token, options),
  );
  lines.push(`Refreshed: a new access token for ${refreshed.expires_in} seconds`);
  if (granted.has('posts.read')) {
    const { data, meta } = await answerOf(
      developerApi(ISSUER, refreshed.access_token).GET('/dev/v1/posts', {
        params: { query: { limit: 5 } },
      }),
    );
    lines.push(`Posts: ${meta.total}, the newest says "${data[0]?.content ?? 'nothing'}"`);
  }
  return lines;
}

function page(response, status, title, lines) {
  const list = lines.map((line) => `<li>${escaped(line)}</li>`).join('\n');
  const html = `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>
<ul>\n${list}\n</ul><p><a href="/">Run it again</a></p></html>`;
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' }).end(html);
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
