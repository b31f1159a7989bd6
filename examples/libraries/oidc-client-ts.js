import { OidcClient } from 'oidc-client-ts';
import { getMe, sendUserTo } from './helpers.js';

const { ISSUER, CLIENT_ID, REDIRECT_URI } = process.env;
// In a page, pass the same settings to UserManager.
const client = new OidcClient({
  authority: ISSUER,
  metadataUrl: `${ISSUER}/.well-known/oauth-authorization-server`,
  client_id: CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  scope: 'profile.read posts.read',
});
const { url } = await client.createSigninRequest({});
const callbackUrl = await sendUserTo(url);
const { access_token } = await client.processSigninResponse(callbackUrl.href);
console.log(await getMe(access_token));
