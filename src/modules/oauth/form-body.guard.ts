import { isUtf8 } from 'node:buffer';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import express, { type Request, type Response } from 'express';
import { FormTooLarge, InvalidRequest } from './oauth.errors.js';
import { isWellEncoded } from './parameters.js';

const FORM = /^application\/x-www-form-urlencoded *(; *(charset="?utf-8"? *)?)?$/i;
const parse = express.urlencoded({
  extended: false,
  limit: 16_384,
  parameterLimit: 100,
  type: () => true,
  verify: (_request, _response, body) => {
    if (!isUtf8(body) || !isWellEncoded(body.toString())) {
      throw new InvalidRequest('The form must be percent-encoded UTF-8.');
    }
  },
});

/**
 * Reads a form body before the other guards, since budgets are counted by the app that the form names.
 * A guard rather than middleware, so that its errors go through the controller's own filter.
 */
@Injectable()
export class FormBodyGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!FORM.test(request.get('content-type') ?? '')) {
      throw new InvalidRequest(
        'Send the parameters as a form, with Content-Type: application/x-www-form-urlencoded.',
      );
    }
    await new Promise<void>((resolve, reject) => {
      parse(request, context.switchToHttp().getResponse<Response>(), (error?: unknown) => {
        if (error === undefined) resolve();
        else reject(bodyError(error));
      });
    });
    // The parser leaves a request without a body as it is.
    request.body ??= {};
    return true;
  }
}

function bodyError(error: unknown): unknown {
  if (error instanceof InvalidRequest) return error;
  const { status, type } = error as { status?: unknown; type?: unknown };
  if (type === 'entity.too.large') return new FormTooLarge();
  return typeof status === 'number' && status < 500
    ? new InvalidRequest('The form is malformed.')
    : error;
}
