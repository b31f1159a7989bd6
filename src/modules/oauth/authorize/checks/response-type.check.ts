import { UnsupportedResponseType } from '../../oauth.errors.js';
import type { AuthorizeCheck } from '../authorization-request.js';

/** `response_type` is `code` (RFC 6749 §4.1.1). */
export const checkResponseType: AuthorizeCheck = ({ parameters }) => {
  if (parameters.require('response_type') !== 'code') throw new UnsupportedResponseType();
};
