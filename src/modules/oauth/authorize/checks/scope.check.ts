import { splitScope } from '../../../../common/scopes.js';
import { InvalidScope } from '../../oauth.errors.js';
import type { AuthorizeCheck } from '../authorization-request.js';

/** `scope` is sent (source document, section 4.1) and asks for nothing that the app is not registered for (RFC 6749 §3.3). */
export const checkScope: AuthorizeCheck = ({ app, parameters }) => {
  const requested = splitScope(parameters.get('scope') ?? '');
  if (requested.length === 0) throw new InvalidScope('scope is required.');
  const allowed: readonly string[] = app.scopes;
  if (!requested.every((scope) => allowed.includes(scope))) {
    throw new InvalidScope(
      `scope may hold only what the app is registered for: ${allowed.join(' ')}.`,
    );
  }
};
