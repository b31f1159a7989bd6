import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { currentRequest } from '../../request-context.js';
import { InvalidRequest } from '../../errors.js';
import { ApiErrors } from '../errors/api-errors.js';
import { IdempotencyKeyInUse, IdempotencyKeyReused } from './idempotency.service.js';

const HEADER = 'Idempotency-Key';
const VISIBLE_ASCII = /^[!-~]{1,255}$/;

/** The header of responses that can be replays. */
export const REPLAYED_HEADER = {
  'Idempotency-Replayed': {
    description: 'There when an earlier request with the same Idempotency-Key made this.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

/**
 * The request's Idempotency-Key, if it has one: compared byte by byte, quotes included.
 * One that is not 1 to 255 visible ASCII characters never gets to the handler: `RequestPipe` refuses it with the body.
 */
export const IdempotencyKeyOf = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | undefined => {
    const request = context.switchToHttp().getRequest<Request>();
    const name = HEADER.toLowerCase();
    if (request.headers[name] === undefined) return undefined;
    const [key = '', ...more] = request.headersDistinct[name] ?? [];
    if (more.length > 0 || !VISIBLE_ASCII.test(key))
      currentRequest()?.violations.push(...(unreadableKey().extras.errors ?? []));
    return key;
  },
);

export function setReplayed(response: Response, replayed: boolean): void {
  if (replayed) response.set('Idempotency-Replayed', 'true');
}

/** The operation may be repeated with the same Idempotency-Key: documents the header and what is refused. */
export function AcceptsIdempotencyKey(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: HEADER,
      description:
        'A value of your own, such as a random UUID, new for each thing that you want made. If no answer arrives, send the ' +
        'same request with the same key again: it is made once, and a repetition within 24 hours gets the first answer.',
      required: false,
      // Without an example: Swagger UI would send it with every request, and the second is another one under the same key.
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: VISIBLE_ASCII.source },
    }),
    ApiErrors(unreadableKey(), new IdempotencyKeyInUse(), new IdempotencyKeyReused()),
  );
}

function unreadableKey(): InvalidRequest {
  return InvalidRequest.field(
    HEADER,
    'invalid_format',
    `${HEADER} must be one value of 1 to 255 visible ASCII characters.`,
  );
}
