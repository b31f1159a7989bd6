import type { Request } from 'express';
import { InvalidClient, InvalidRequest } from '../oauth.errors.js';
import type { Parameters } from '../parameters.js';

/** What a client shows of itself, not yet checked. */
export interface PresentedCredentials {
  clientId?: string;
  secret?: string;
  /** Whether HTTP Basic was tried, which decides on the challenge of a 401. */
  basic: boolean;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * The client's credentials from HTTP Basic or from the form, but not from both (RFC 6749 §2.3.1). An empty secret counts
 * as none, as clients of public apps send it.
 * @throws InvalidRequest when both are used or they name different apps; InvalidClient when the header is malformed
 */
export function presentedCredentials(
  request: Request,
  parameters: Parameters,
): PresentedCredentials {
  const clientId = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  const header = request.get('authorization');
  if (header === undefined) return { clientId, secret, basic: false };

  const basic = parseBasic(header);
  if (secret !== undefined) {
    throw new InvalidRequest(
      'Send the client secret in the Authorization header or in the body, not in both.',
    );
  }
  if (clientId !== undefined && clientId !== basic.clientId) {
    throw new InvalidRequest('client_id differs from the one in the Authorization header.');
  }
  return { ...basic, basic: true };
}

/** The client_id that a request claims, for counting only; undefined when it claims none or contradicts itself. */
export function claimedClientId(request: Request, parameters: Parameters): string | undefined {
  try {
    return presentedCredentials(request, parameters).clientId;
  } catch {
    return undefined;
  }
}

/** The two parts are form-encoded first (RFC 6749 §2.3.1), but many clients send them raw: our characters allow both. */
function parseBasic(header: string): { clientId: string; secret?: string } {
  const encoded = BASIC.exec(header)?.[1];
  const [id, secret] = splitOnce(Buffer.from(encoded ?? '', 'base64').toString('utf8'));
  if (encoded === undefined || id === undefined || secret === undefined)
    throw new InvalidClient(true);
  return { clientId: formDecoded(id), secret: secret === '' ? undefined : formDecoded(secret) };
}

function splitOnce(credentials: string): [string?, string?] {
  const colon = credentials.indexOf(':');
  return colon === -1 ? [] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
}

function formDecoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw new InvalidClient(true);
  }
}
