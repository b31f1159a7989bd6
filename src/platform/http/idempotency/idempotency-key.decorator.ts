import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { currentRequest } from '../../request-context.js';
import { InvalidRequest } from '../../errors.js';
import { ApiErrors } from '../errors/api-errors.js';
import { IdempotencyKeyInUse, IdempotencyKeyReused } from './idempotency.service.js';

const HEADER = 'Idempotency-Key';
const VISIBLE_ASCII = /^[!-~]{1,255}$/;

/** OpenAPI documentation of the response header. */
export const REPLAYED_HEADER = {
  'Idempotency-Replayed': {
    description:
      'Present if the response is that of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

/**
 * Parameter decorator: the Idempotency-Key of the request. Unlike the IETF draft, treats quotes as a part of the key.
 * Records an invalid key as a violation, which `RequestPipe` reports together with those of the body.
 */
export const IdempotencyKeyOf = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | undefined => {
    const request = context.switchToHttp().getRequest<Request>();
    const name = HEADER.toLowerCase();
    if (request.headers[name] === undefined) return undefined;
    const [key = '', ...more] = request.headersDistinct[name] ?? [];
    if (more.length > 0 || !VISIBLE_ASCII.test(key))
      currentRequest()?.violations.push(...(invalidKey().extras.errors ?? []));
    return key;
  },
);

export function setReplayedHeader(response: Response, replayed: boolean): void {
  if (replayed) response.set('Idempotency-Replayed', 'true');
}

/** Documents the Idempotency-Key header of an operation and its errors. */
export function AcceptsIdempotencyKey(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: HEADER,
      description:
        'A unique value of your choice, such as a random UUID, for each new request. If you get no response, repeat the ' +
        'request with the same key. It is executed once: a repetition within 24 hours gets the first response.',
      required: false,
      // Without an example, because Swagger UI would send the same key with every request.
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: VISIBLE_ASCII.source },
    }),
    ApiErrors(invalidKey(), new IdempotencyKeyInUse(), new IdempotencyKeyReused()),
  );
}

function invalidKey(): InvalidRequest {
  return InvalidRequest.field(
    HEADER,
    'invalid_format',
    `${HEADER} must be one value of 1 to 255 visible ASCII characters.`,
  );
}
