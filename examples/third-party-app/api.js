// @ts-check
// A typed client of the developer API: the types come from its OpenAPI document.
import createClient from 'openapi-fetch';

/** @typedef {import('../../openapi/types.js').paths} Paths */
/** @typedef {import('../../openapi/types.js').components['schemas']['Error']} ApiError */

/**
 * Creates a client that sends this access token.
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
 * Returns the response body, or throws an error with the code, description and request id.
 * @template T
 * @param {Promise<{ data?: T, error?: ApiError }>} call
 * @returns {Promise<T>}
 */
export async function dataOf(call) {
  const { data, error } = await call;
  if (data !== undefined) return data;
  throw new Error(`${error?.error}: ${error?.error_description} (${error?.request_id})`);
}
