#!/usr/bin/env bash
# A browser client that signs users out 70 minutes after they leave, although their refresh token lives for months.
#
# Version: react-oauth2-code-pkce 1.24.0 with react 19.2.0 and jsdom 27.0.0, on Node 20.20.
# Expected: no standard has a member for the lifetime of a refresh token. A client uses it until the server returns `invalid_grant`.
# Seen: without `refresh_token_expires_in` or `refresh_expires_in` in the token response, which RFC 6749 does not define, the client
# assumes that the refresh token expires ten minutes after the access token. A user who comes back later is sent to the sign-in page
# without any request to the token endpoint. With the member, the client refreshes.
# Why it matters: an access token of an hour means a sign-in for every visit, with a one-time password each. A server helps these apps
# by returning `refresh_token_expires_in`; an app helps itself with `refreshTokenExpiresIn` in its configuration.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  react-oauth2-code-pkce@1.24.0 react@19.2.0 react-dom@19.2.0 jsdom@27.0.0

cat > check.js <<'JS'
import { JSDOM } from 'jsdom';

const APP = 'https://app.example/';
const now = Date.now;

const dom = new JSDOM('<div id="root"></div>', { url: APP, pretendToBeVisual: true });
for (const name of ['window', 'document', 'navigator', 'localStorage', 'sessionStorage']) {
  const value = name === 'window' ? dom.window : dom.window[name];
  Object.defineProperty(globalThis, name, { value, configurable: true });
}
console.error = () => undefined;
const { createElement } = await import('react');
const { createRoot } = await import('react-dom/client');
const { AuthProvider } = await import('react-oauth2-code-pkce');

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What the client does on a visit `days` after it received a token response with these members. */
async function visitLater(days, members) {
  Date.now = now;
  localStorage.clear();
  const requests = [];
  let signIns = 0;
  globalThis.fetch = async (url, init) => {
    requests.push(new URLSearchParams(init.body).get('grant_type'));
    const body = { access_token: 'a', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r', ...members };
    return new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } });
  };
  const authConfig = {
    clientId: 'app',
    authorizationEndpoint: 'https://server.example/oauth/authorize',
    tokenEndpoint: 'https://server.example/oauth/token',
    redirectUri: APP,
    scope: 'profile',
    autoLogin: false,
    decodeToken: false,
    onRefreshTokenExpire: () => void (signIns += 1),
  };
  const visit = async () => {
    const root = createRoot(document.body.appendChild(document.createElement('div')));
    root.render(createElement(AuthProvider, { authConfig }, null));
    await pause(300);
    root.unmount();
    await pause(50);
  };
  // Back from the authorization endpoint, with a code.
  localStorage.setItem('ROCP_loginInProgress', 'true');
  localStorage.setItem('ROCP_PKCE_code_verifier', 'v'.repeat(43));
  dom.reconfigure({ url: `${APP}?code=c` });
  await visit();
  dom.reconfigure({ url: APP });
  Date.now = () => now() + days * 86_400_000;
  await visit();
  return `requests: ${requests.join(', ')}; sign-ins: ${signIns}`;
}

const guessed = await visitLater(1, {});
const stated = await visitLater(1, { refresh_token_expires_in: 7_776_000 });
console.log(`Visit after a day, no lifetime in the response: ${guessed}`);
console.log(`Visit after a day, 90 days in the response: ${stated}`);
const holds =
  guessed === 'requests: authorization_code; sign-ins: 1' &&
  stated === 'requests: authorization_code, refresh_token; sign-ins: 0';
console.log(holds ? 'As described.' : 'Changed.');
process.exit(holds ? 0 : 1);
JS
node --no-warnings check.js
