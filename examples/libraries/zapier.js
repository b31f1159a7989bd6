const { ISSUER, CLIENT_ID: client_id, CLIENT_SECRET: client_secret } = process.env;
/** A form: the default of `z.request` is JSON. Zapier stores the new refresh token of the result. */
async function requestTokens(z, fields) {
  const body = { client_id, client_secret, ...fields };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await z.request({ url: `${ISSUER}/oauth/token`, method: 'POST', headers, body })).data;
}
const [redirect_uri, state] = ['{{bundle.inputData.redirect_uri}}', '{{bundle.inputData.state}}'];
const link = { response_type: 'code', client_id, redirect_uri, scope: 'profile.read', state };
const oauth2Config = {
  authorizeUrl: { url: `${ISSUER}/oauth/authorize`, params: link },
  getAccessToken: (z, { inputData }) =>
    requestTokens(z, { ...inputData, grant_type: 'authorization_code' }),
  refreshAccessToken: (z, { authData: { refresh_token } }) =>
    requestTokens(z, { grant_type: 'refresh_token', refresh_token }), // without `scope`
  autoRefresh: true,
};
const headers = { authorization: 'Bearer {{bundle.authData.access_token}}' };
const test = { url: `${ISSUER}/dev/v1/me`, headers };
export default { type: 'oauth2', oauth2Config, test, connectionLabel: '{{name}}' };
