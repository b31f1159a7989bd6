import { isUtf8 } from 'node:buffer';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import express, { type Request, type Response } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { readBody, RequestTimeout } from '../../../platform/http/server/request-body.js';
import { FormTooLarge, FormTooSlow, InvalidRequest, OAuthError } from './oauth.errors.js';
import { isWellEncoded } from './parameters.js';

const FORM_TYPE = /^application\/x-www-form-urlencoded *(; *(charset="?utf-8"? *)?)?$/i;
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
        throw new InvalidRequest('The form must be percent-encoded UTF-8.');
      }
    },
  }),
};

/**
 * Reads a form of at most 16,384 bytes and 100 parameters into `request.body` (RFC 6749 §3.2).
 * @throws InvalidRequest; FormTooLarge; FormTooSlow
 */
export async function readForm(
  request: Request,
  response: Response,
  timeoutMs: number,
): Promise<void> {
  if (!FORM_TYPE.test(request.get('content-type') ?? '')) {
    throw new InvalidRequest(
      'Send the parameters as a form with Content-Type: application/x-www-form-urlencoded.',
    );
  }
  try {
    await readBody(request, response, READER, timeoutMs);
  } catch (error) {
    throw toFormError(error);
  }
  request.body ??= {};
}

function toFormError(error: unknown): unknown {
  if (error instanceof InvalidRequest) return error;
  if (error instanceof RequestTimeout) return new FormTooSlow();
  const { status, type } = error as { status?: unknown; type?: unknown };
  if (type === 'entity.too.large') return new FormTooLarge();
  return typeof status === 'number' && status < 500
    ? new InvalidRequest('The form is malformed.')
    : error;
}

/** Reads the form of a page. A guard, so that the exception filter of the controller handles its errors. */
@Injectable()
export class FormBodyGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    await readForm(request, response, this.config.server.requestTimeoutMs);
    return true;
  }
}

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** Why the form could not be read. `ClientGuard` throws it unless a limit of failed attempts is exceeded. */
    formError?: unknown;
  }
}

/** Reads the form of a client. Leaves errors to `ClientGuard`, so that malformed forms count as failed attempts. */
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
