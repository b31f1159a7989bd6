import { sha256 } from '../../../src/platform/secrets.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import type { TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

/** The values that an attacker may know. */
interface Known {
  user: UserWithPhone;
  client: TestClient;
  tokens: TokenBody;
  /** Cookies of a browser in which the user is signed in. */
  cookie: string;
}

/**
 * Headers that must not authenticate: `Authorization` with another value or scheme than the access token as `Bearer`, and
 * credentials in other headers.
 */
export function forgedCredentials({
  user,
  client,
  tokens,
  cookie,
}: Known): Record<string, string>[] {
  const { access_token: token, refresh_token } = tokens;
  const stored = Buffer.from(sha256(token), 'hex');
  const claims = Buffer.from(`{"sub":"${user.id}","scope":"profile.read"}`).toString('base64url');
  const basic = Buffer.from(`${client.clientId}:${client.secret}`).toString('base64');
  const credentials = [
    `Bearer eyJhbGciOiJub25lIn0.${claims}.`,
    // The stored hash of the token, in two encodings, as an attacker finds it in a dump of the database.
    `Bearer ${stored.toString('hex')}`,
    `Bearer svcat_${stored.toString('base64url')}`,
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token}A`,
    `Bearer ${token.replace('svcat_', 'SVCAT_')}`,
    `Bearer ${refresh_token}`,
    `Bearer ${client.secret}`,
    `Bearer ${user.id}`,
    `Basic ${basic}`,
    `Token ${token}`,
    token,
  ];
  return [
    ...credentials.map((authorization) => ({ authorization })),
    { cookie },
    { cookie: `access_token=${token}` },
    { 'x-access-token': token },
    { 'x-user-id': user.id },
    { 'proxy-authorization': `Bearer ${token}` },
  ];
}
