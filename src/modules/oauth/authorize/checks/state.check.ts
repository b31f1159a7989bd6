import { InvalidRequest } from '../../oauth.errors.js';
import { stateTooLong } from '../../page-error.js';
import type { AuthorizeCheck } from '../authorization-request.js';

const MOST_BYTES = 4096;

/** `state` is sent (source document, section 4.1), and short enough to be given back. */
export const checkState: AuthorizeCheck = ({ parameters }) => {
  const state = parameters.get('state');
  if (state === undefined) throw new InvalidRequest('state is required.');
  if (Buffer.byteLength(state) > MOST_BYTES) throw stateTooLong();
};
