import { unknownApp } from '../../page-error.js';
import type { PageCheck } from '../authorization-request.js';

/** `client_id` names an enabled app, once (RFC 6749 §4.1.2.1). */
export const checkClient: PageCheck = ({ app, parameters }) => {
  if (parameters.isRepeated('client_id') || !app?.enabled) throw unknownApp();
};
