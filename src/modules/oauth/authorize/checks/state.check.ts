import { InvalidRequest } from '../../oauth.errors.js';
import { stateTooLong } from '../../page-error.js';
import type { AuthorizeCheck, PageCheck } from '../authorization-request.js';

const MOST_BYTES = 4096;

/** `state` is short enough to be given back, whatever else is wrong: every redirect would have to carry it. */
export const checkStateLength: PageCheck = ({ parameters }) => {
  if (Buffer.byteLength(parameters.get('state') ?? '') > MOST_BYTES) throw stateTooLong();
};

/** `state` is sent (source document, section 4.1). */
export const checkState: AuthorizeCheck = ({ parameters }) => {
  if (parameters.get('state') === undefined) throw new InvalidRequest('state is required.');
};
