// @ts-check
// The developer API with the types of its published document: an editor knows every path, field and answer.
import createClient from 'openapi-fetch';

/** @typedef {import('../../openapi/types.js').paths} Paths */
/** @typedef {import('../../openapi/types.js').components['schemas']['Error']} ApiError */

/**
 * A client that calls with this access token.
 * @param {string} issuer
 * @param {string} accessToken
 */
export function developerApi(issuer, accessToken) {
  /** @type {import('openapi-fetch').Client<Paths>} */
  const client = createClient({
    baseUrl: issuer,
    headers: { authorization: `Bearer ${accessToken}` },
  });
  return client;
}

/**
 * What a call answers. An error's body says what went wrong and which request it was.
 * @template T
 * @param {Promise<{ data?: T, error?: ApiError }>} call
 * @returns {Promise<T>}
 */
export async function answerOf(call) {
  const { data, error } = await call;
  if (data !== undefined) return data;
  throw new Error(`${error?.error}: ${error?.error_description} (${error?.request_id})`);
}
