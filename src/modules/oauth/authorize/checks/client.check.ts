import { unknownApp } from '../../page-error.js';
import type { PageCheck } from '../authorization-request.js';

/** `client_id` names an enabled app; sent twice it names none (RFC 6749 §4.1.2.1). */
export const checkClient: PageCheck = ({ app }) => {
  if (!app?.enabled) throw unknownApp();
};
