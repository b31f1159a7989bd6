const { ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env;

/** A form: the default of `z.request` is JSON. The result contains the new refresh token, which Zapier stores. */
async function requestTokens(z, fields) {
  const body = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, ...fields };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await z.request({ url: `${ISSUER}/oauth/token`, method: 'POST', headers, body })).data;
}
const redirect_uri = '{{bundle.inputData.redirect_uri}}';
const params = { response_type: 'code', client_id: CLIENT_ID, redirect_uri };
Object.assign(params, { scope: 'profile.read posts.read', state: '{{bundle.inputData.state}}' });
export const oauth2Config = {
  authorizeUrl: { url: `${ISSUER}/oauth/authorize`, params },
  getAccessToken: (z, { inputData: { code, redirect_uri } }) =>
    requestTokens(z, { grant_type: 'authorization_code', code, redirect_uri }),
  refreshAccessToken: (z, { authData: { refresh_token } }) =>
    requestTokens(z, { grant_type: 'refresh_token', refresh_token }), // no `scope`
  autoRefresh: true,
};
const headers = { authorization: 'Bearer {{bundle.authData.access_token}}' };
const test = { url: `${ISSUER}/dev/v1/me`, headers }; // no middleware that adds the header to all requests
export default { type: 'oauth2', oauth2Config, test, connectionLabel: '{{name}}' };
