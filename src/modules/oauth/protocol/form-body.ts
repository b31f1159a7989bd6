import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { contentTypeProblem } from '../../../platform/http/server/content-type.js';
import { readBody, RequestTimeout } from '../../../platform/http/server/request-body.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { FormTooLarge, FormTooSlow, OAuthInvalidRequest, OAuthError } from './oauth.errors.js';
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

/** Reads the form of a page. It is a guard, not middleware, so that the exception filter of the controller handles its errors. */
@Injectable()
export class PageFormGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    await readForm(request, response, this.config.server.requestTimeoutMs);
    return true;
  }
}

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** Why the form could not be read. `ClientGuard` throws it, unless the URL contains a client secret. */
    formError?: unknown;
  }
}

/** Reads the form of a client and forbids caching. `ClientGuard` throws the errors, so that malformed forms count as failed attempts. */
@Injectable()
export class ClientFormGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    try {
      await readForm(request, response, this.config.server.requestTimeoutMs);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      request.context.formError = error;
      request.body = {};
    }
    return true;
  }
}
