import { redirectUriMatches } from '../../apps/redirect-uri.js';
import { wrongRedirectUri } from '../../page-error.js';
import type { PageCheck } from '../authorization-request.js';

/** `redirect_uri` is sent, and is one that is registered for the app (source document, section 4.1; RFC 9700 §4.1.3). */
export const checkRedirectUri: PageCheck = ({ app, parameters }) => {
  const requested = parameters.get('redirect_uri');
  const anyLoopbackPort = app?.kind === 'public';
  const registered = app?.redirectUris ?? [];
  if (
    requested === undefined ||
    !registered.some((uri) => redirectUriMatches(uri, requested, anyLoopbackPort))
  ) {
    throw wrongRedirectUri();
  }
};
