import { isUtf8 } from 'node:buffer';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import express, { type Request, type Response } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { readBody, RequestTimeout } from '../../../platform/http/server/request-body.js';
import { FormTooLarge, FormTooSlow, InvalidRequest, OAuthError } from './oauth.errors.js';
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

const FORM_READER = { parse, maxBytes: MOST_FORM_BYTES };

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
    await readBody(request, response, FORM_READER, withinMs);
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

/** Reads the form of a page. A guard rather than middleware, so that its errors go through the controller's own filter. */
@Injectable()
export class FormBodyGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { requestTimeoutMs } = this.config.server;
    await readForm(http.getRequest<Request>(), http.getResponse<Response>(), requestTimeoutMs);
    return true;
  }
}

declare global {
  namespace Express {
    interface Request {
      /** Why the form could not be read. `ClientGuard` throws it after it has checked the limits of failed attempts. */
      formProblem?: unknown;
    }
  }
}

/**
 * Reads the form of a client. An error of the form is kept for `ClientGuard`, so that malformed forms count as failed attempts.
 * Responses of these endpoints are never cached.
 */
@Injectable()
export class FormReadingGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    try {
      await readForm(request, response, this.config.server.requestTimeoutMs);
    } catch (problem) {
      if (!(problem instanceof OAuthError)) throw problem;
      request.formProblem = problem;
      request.body = {};
    }
    return true;
  }
}
