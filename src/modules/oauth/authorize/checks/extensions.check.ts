import { InvalidRequest, RequestNotSupported } from '../../oauth.errors.js';
import type { AuthorizeCheck } from '../authorization-request.js';

/**
 * Extensions that change what the request or its answer means are refused rather than ignored, since an app that uses one
 * counts on it: another `response_mode` than `query`, and request objects (RFC 9101; OpenID Connect Core §3.1.2.6).
 */
export const checkExtensions: AuthorizeCheck = ({ parameters }) => {
  const mode = parameters.get('response_mode');
  if (mode !== undefined && mode !== 'query')
    throw new InvalidRequest('response_mode may only be query.');
  for (const name of ['request', 'request_uri'] as const)
    if (parameters.get(name) !== undefined) throw new RequestNotSupported(name);
};
