import { isUtf8 } from 'node:buffer';
import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import express, { type Request, type Response } from 'express';
import type { Observable } from 'rxjs';
import { AppError, InvalidRequest, type FieldError } from '../../errors.js';
import { AppConfig } from '../../config/app-config.js';
import { ApiErrors } from '../errors/api-errors.js';
import { contentTypeProblem, readBody, RequestTimeout } from '../server/request-body.js';

/** Maximum size of a JSON body after decompression. */
const MAX_BODY_BYTES = 262_144;

export class UnsupportedMediaType extends AppError {
  constructor(
    description = 'Send the body as JSON in UTF-8, with the header Content-Type: application/json.',
  ) {
    super('unsupported_media_type', description);
  }
}

export class PayloadTooLarge extends AppError {
  constructor() {
    super('payload_too_large', `The body must be at most ${MAX_BODY_BYTES} bytes.`);
  }
}

const SUPPORTED_ENCODINGS =
  'Send the body uncompressed, or compressed with gzip, deflate or br and the matching Content-Encoding.';
const JSON_TYPE = 'application/json';
const OTHER_CHARSET =
  'The body must be UTF-8, but Content-Type has another charset. Send Content-Type: application/json.';
const parse = express.json({
  limit: MAX_BODY_BYTES,
  type: () => true,
  strict: false,
  verify: (_request, _response, body) => {
    // Otherwise, invalid UTF-8 would be stored as replacement characters.
    if (!isUtf8(body))
      throw InvalidRequest.field('', 'not_well_formed', 'The body is not valid UTF-8.');
  },
});

const JSON_READER = { parse, maxBytes: MAX_BODY_BYTES };

/** Reads a JSON body. Interceptors run after the guards, so unauthorized clients get an error before the server reads the body. */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  constructor(private readonly config: AppConfig) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const problem = contentTypeProblem(request.get('content-type'), JSON_TYPE);
    if (problem === 'charset') throw new UnsupportedMediaType(OTHER_CHARSET);
    if (problem !== null) throw new UnsupportedMediaType();
    const response = context.switchToHttp().getResponse<Response>();
    const { requestTimeoutMs } = this.config.server;
    try {
      await readBody(request, response, JSON_READER, requestTimeoutMs);
    } catch (error) {
      throw bodyError(error);
    }
    return next.handle();
  }
}

/**
 * The operation accepts a JSON body. Documents the errors of the body.
 * @param options.errorExample a field error of this operation, for the example of the 400
 */
export function AcceptsJson({ errorExample }: { errorExample: FieldError }): MethodDecorator {
  return applyDecorators(
    UseInterceptors(JsonBodyInterceptor),
    ApiConsumes(JSON_TYPE),
    ApiErrors(
      InvalidRequest.fields([errorExample]),
      new RequestTimeout(),
      new PayloadTooLarge(),
      new UnsupportedMediaType(),
    ),
  );
}

function bodyError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const { status, type } = error as { status?: unknown; type?: unknown };
  if (status === 413) return new PayloadTooLarge();
  if (status === 415) return new UnsupportedMediaType(SUPPORTED_ENCODINGS);
  if (type === 'entity.parse.failed') return new InvalidRequest('The body is not valid JSON.');
  // Only errors of zlib have no type.
  if (status === 400 && type === undefined)
    return new InvalidRequest('The body does not match its Content-Encoding.');
  if (status === 400) return new InvalidRequest('The body does not match its Content-Length.');
  return error;
}
