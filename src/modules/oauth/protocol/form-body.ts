import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import {
  contentTypeProblem,
  readBody,
  RequestTimeout,
} from '../../../platform/http/server/request-body.js';
import { FormTooLarge, FormTooSlow, OAuthInvalidRequest } from './oauth.errors.js';
import { isWellEncoded } from './parameters.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const MAX_BYTES = 16_384;
const READER = {
  maxBytes: MAX_BYTES,
  parse: express.urlencoded({
    extended: false,
    limit: MAX_BYTES,
    parameterLimit: 100,
    type: () => true,
    verify: (_request, _response, body) => {
      if (!isUtf8(body) || !isWellEncoded(body.toString())) {
        throw new OAuthInvalidRequest('The form must be percent-encoded UTF-8.');
      }
    },
  }),
};

/**
 * Reads a form of at most 16,384 bytes and 100 parameters into `request.body` (RFC 6749 §3.2).
 * @throws OAuthInvalidRequest; FormTooLarge; FormTooSlow
 */
export async function readForm(
  request: Request,
  response: Response,
  timeoutMs: number,
): Promise<void> {
  const problem = contentTypeProblem(request.get('content-type'), FORM_TYPE);
  if (problem === 'charset') {
    throw new OAuthInvalidRequest(
      `The body must be UTF-8, but Content-Type has another charset. Send Content-Type: ${FORM_TYPE}.`,
    );
  }
  if (problem !== null) {
    throw new OAuthInvalidRequest(`Send the parameters as a form with Content-Type: ${FORM_TYPE}.`);
  }
  try {
    await readBody(request, response, READER, timeoutMs);
  } catch (error) {
    throw toFormError(error);
  }
  request.body ??= {};
}

function toFormError(error: unknown): unknown {
  if (error instanceof OAuthInvalidRequest) return error;
  if (error instanceof RequestTimeout) return new FormTooSlow();
  const { status, type } = error as { status?: unknown; type?: unknown };
  if (type === 'entity.too.large') return new FormTooLarge();
  return typeof status === 'number' && status < 500
    ? new OAuthInvalidRequest('The form is malformed.')
    : error;
}
