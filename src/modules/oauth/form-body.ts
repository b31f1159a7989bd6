import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { arrivalOf, RequestTimeout } from '../../http/arrival.js';
import { FormTooLarge, FormTooSlow, InvalidRequest } from './oauth.errors.js';
import { isWellEncoded } from './parameters.js';

const FORM = /^application\/x-www-form-urlencoded *(; *(charset="?utf-8"? *)?)?$/i;
const MOST_FORM_BYTES = 16_384;
const parse = express.urlencoded({
  extended: false,
  limit: MOST_FORM_BYTES,
  parameterLimit: 100,
  type: () => true,
  verify: (_request, _response, body) => {
    if (!isUtf8(body) || !isWellEncoded(body.toString())) {
      throw new InvalidRequest('The form must be percent-encoded UTF-8.');
    }
  },
});

const FORM_READER = { parse, mostBytes: MOST_FORM_BYTES };

/**
 * Reads a form of at most 16,384 bytes and 100 parameters into `request.body` (RFC 6749 §3.2).
 * @throws InvalidRequest when it is no form or malformed; FormTooLarge; FormTooSlow after `withinMs` milliseconds
 */
export async function readForm(
  request: Request,
  response: Response,
  withinMs: number,
): Promise<void> {
  if (!FORM.test(request.get('content-type') ?? '')) {
    throw new InvalidRequest(
      'Send the parameters as a form, with Content-Type: application/x-www-form-urlencoded.',
    );
  }
  try {
    await arrivalOf(request, response, FORM_READER, withinMs);
  } catch (error) {
    throw bodyError(error);
  }
  // The parser leaves a request without a body as it is.
  request.body ??= {};
}

function bodyError(error: unknown): unknown {
  if (error instanceof InvalidRequest) return error;
  if (error instanceof RequestTimeout) return new FormTooSlow();
  const { status, type } = error as { status?: unknown; type?: unknown };
  if (type === 'entity.too.large') return new FormTooLarge();
  return typeof status === 'number' && status < 500
    ? new InvalidRequest('The form is malformed.')
    : error;
}
