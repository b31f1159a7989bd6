import { InvalidRequest } from '../../oauth.errors.js';
import type { AuthorizeCheck } from '../authorization-request.js';

/** No parameter of the protocol is sent twice (RFC 6749 §3.1). */
export const checkDuplicates: AuthorizeCheck = ({ parameters }) => {
  const [repeated] = parameters.repeated().filter((name) => PARAMETERS.has(name));
  if (repeated !== undefined) throw new InvalidRequest(`${repeated} must be sent once.`);
};

const PARAMETERS: ReadonlySet<string> = new Set([
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'ui_locales',
  'response_mode',
  'request',
  'request_uri',
]);
