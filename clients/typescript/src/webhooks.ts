import { WebhookError } from './errors.js';
import type { WebhookEvent } from './operations.js';

/** A request from another time may be an old one that somebody sends again. */
const MAX_SKEW_SECONDS = 300;

/** Headers of a request, as `fetch` or Node.js has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a request to your endpoint for events, as Standard Webhooks specifies, and returns its event. The platform may add types of
 * events: ignore those that you do not know.
 * @param body as it arrived, before any parsing
 * @param secret that the operator gave you, `whsec_…`
 * @throws WebhookError if the request is not from the platform, or too old; TypeError if the secret is invalid
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<WebhookEvent> {
  const key = await keyOf(secret);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const id = header(headers, 'webhook-id');
  const time = header(headers, 'webhook-timestamp');
  // Also true for NaN.
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= MAX_SKEW_SECONDS))
    throw new WebhookError('webhook-timestamp', 'The request is not from the last five minutes.');
  const signed = new TextEncoder().encode(`${id}.${time}.${text}`);
  const signatures = header(headers, 'webhook-signature')
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => bytesOf(signature.slice('v1,'.length)));
  // Compares in constant time.
  const verify = (one: BufferSource): Promise<boolean> =>
    crypto.subtle.verify('HMAC', key, one, signed);
  if (!(await Promise.all(signatures.map(verify))).includes(true))
    throw new WebhookError('webhook-signature', 'No signature matches the secret.');
  return JSON.parse(text) as WebhookEvent;
}

function header(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  // Some hosts do not write the names in lower case.
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return String(entry?.[1] ?? '');
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new TypeError('secret must be whsec_ and a text in base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
}

/** Decodes base64. Empty if the text is invalid. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
