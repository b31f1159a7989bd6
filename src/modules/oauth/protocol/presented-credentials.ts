import type { Request } from 'express';
import { OAuthInvalidRequest, MalformedBasic } from './oauth.errors.js';
import type { Parameters } from './parameters.js';

/** Unverified credentials of a client. */
export interface PresentedCredentials {
  clientId?: string;
  secret?: string;
  /** Whether the request uses HTTP Basic. If so, a 401 needs a challenge. */
  basic: boolean;
}

const BASIC_SCHEME = /^basic(?:\s|$)/i;
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * Reads the client credentials from HTTP Basic or from the form (RFC 6749 §2.3.1). An empty secret counts as omitted, because
 * some public apps send it. The same credentials in both places are accepted, because some libraries try both at once. Other schemes
 * are ignored if the form names the client: HTTP libraries may add an access token to every request, also to a refresh.
 * @throws OAuthInvalidRequest if there are several headers, or if the form has another client id or secret than the header;
 *   MalformedBasic if the header is malformed
 */
export function presentedCredentials(
  request: Request,
  parameters: Parameters,
): PresentedCredentials {
  const clientId = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  const [header, ...others] = authorizationHeaders(request).filter(
    (value) => clientId === undefined || BASIC_SCHEME.test(value),
  );
  if (header === undefined) return { clientId, secret, basic: false };
  if (others.length > 0)
    throw new OAuthInvalidRequest('Send one Authorization header, not several.');

  const fromHeader = parseBasic(header);
  if (!fromHeader) throw new MalformedBasic();
  if (secret !== undefined && secret !== fromHeader.secret) {
    throw new OAuthInvalidRequest(
      'The client secret in the body differs from the one in the Authorization header. Send one of them.',
    );
  }
  if (clientId !== undefined && clientId !== fromHeader.clientId) {
    throw new OAuthInvalidRequest('client_id differs from the one in the Authorization header.');
  }
  return { ...fromHeader, basic: true };
}

/** All distinct client ids of the request, unverified. Several if they contradict each other. */
export function claimedClientIds(request: Request, parameters: Parameters): string[] {
  const inHeaders = authorizationHeaders(request).flatMap(
    (header) => parseBasic(header)?.clientId ?? [],
  );
  return [...new Set([...inHeaders, ...parameters.all('client_id')])];
}

/** The client id of the request, unverified. Undefined if there is none, or more than one. */
export function claimedClientId(request: Request, parameters: Parameters): string | undefined {
  const [clientId, ...others] = claimedClientIds(request, parameters);
  return others.length === 0 ? clientId : undefined;
}

/** All `Authorization` headers. `request.headers` has only the first. */
function authorizationHeaders(request: Request): readonly string[] {
  return request.headersDistinct['authorization'] ?? [];
}

/** Client id and secret should be form-encoded (RFC 6749 §2.3.1). Unencoded ones work too, because their characters need no encoding. */
function parseBasic(header: string): { clientId: string; secret?: string } | undefined {
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [id, secret] = splitOnce(Buffer.from(encoded, 'base64').toString('utf8'));
  if (id === undefined || secret === undefined) return undefined;
  const [clientId, clientSecret] = [formDecoded(id), formDecoded(secret)];
  if (clientId === undefined || clientSecret === undefined) return undefined;
  return { clientId, secret: clientSecret === '' ? undefined : clientSecret };
}

function splitOnce(credentials: string): [string?, string?] {
  const colon = credentials.indexOf(':');
  return colon === -1 ? [] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
}

function formDecoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
