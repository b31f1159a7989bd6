import { setTimeout as delay } from 'node:timers/promises';
import {
  applyDecorators,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type AppError, type ErrorCode, InvalidRequest } from '../errors.js';
import { ApiErrors, DOCUMENTED_ERRORS } from '../http/errors/api-errors.js';

/** The request header with which a test app asks for a fault. The header of a real app is ignored. */
const HEADER = 'Test-Fault';

/** The error codes that an API request can ask for, if its operation documents them. */
const ERROR_FAULTS: readonly ErrorCode[] = [
  'quota_exceeded',
  'too_many_requests',
  'service_unavailable',
  'insufficient_scope',
  'invalid_token',
];

const WEBHOOK_FAILURE = 'webhook_failure';
const LOST_RESPONSE = 'lost_response';
const SLOW = /^slow=(\d{1,5})$/;
const MAX_SLOW_MS = 10_000;

/**
 * Does what the header asks for: nothing, a wait, or the loss of the response. Call it for test apps only, once they are authenticated.
 * @param options.codes the error codes that this request can ask for
 * @param options.reject creates the error for any other value
 * @returns the error code that the request asks for, if any
 */
export async function applyTestFault<Code extends string>(
  request: Request,
  response: Response,
  { codes, reject }: { codes: readonly Code[]; reject: (description: string) => Error },
): Promise<Code | undefined> {
  const fault = request.get(HEADER);
  // An empty header counts as absent.
  if (!fault) return undefined;
  const slowMs = Number(SLOW.exec(fault)?.[1] ?? Infinity);
  if (fault === LOST_RESPONSE) loseResponse(request, response);
  else if (slowMs <= MAX_SLOW_MS) await slow(request, response, slowMs);
  else {
    const code = codes.find((name) => name === fault);
    if (code === undefined) throw reject(invalidFault(codes));
    return code;
  }
  return undefined;
}

function invalidFault(codes: readonly string[]): string {
  return `${HEADER} must be one of ${[...codes, LOST_RESPONSE].join(', ')}, or slow= and at most ${MAX_SLOW_MS} milliseconds.`;
}

/** Closes the connection at the end of the response, before the first byte is sent. The transaction of the request is committed then. */
function loseResponse(request: Request, response: Response): void {
  response.end = (): Response => {
    request.context.permit?.release();
    // From Node 24 on, a pipelined response that is destroyed before its turn keeps the connection open, without the later ones.
    if (!response.socket) return response.once('socket', () => response.destroy());
    return response.destroy();
  };
}

/** Waits, without the permits of the request, until the time has passed or the client has disconnected. */
async function slow({ context }: Request, response: Response, milliseconds: number): Promise<void> {
  context.permit?.release();
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await delay(milliseconds, undefined, { signal: closed.signal }).catch(() => undefined);
  await context.permit?.acquire();
}

/** Port for the deliveries of events, implemented by the webhooks. */
export abstract class WebhookFaults {
  /** Makes the next delivery to the app fail. */
  abstract failNext(clientId: string): Promise<void>;
}

/** Simulates faults of API requests of test apps. Runs after authentication, and before the scope check. */
@Injectable()
export class TestFaultGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly webhooks: WebhookFaults,
  ) {}

  /** @throws the documented error of the operation that the request asks for; InvalidRequest for an unknown value */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    const { caller } = request.context;
    if (!caller?.test) return true;
    const errors = this.reflector.getAllAndMerge<AppError[]>(DOCUMENTED_ERRORS, [
      context.getHandler(),
      context.getClass(),
    ]);
    const documented = new Map(errors.map((error) => [error.code, error]));
    const codes = [
      ...ERROR_FAULTS.filter((code) => documented.has(code)),
      WEBHOOK_FAILURE,
    ] as const;
    const code = await applyTestFault(request, response, { codes, reject: invalidHeader });
    // The quota itself then rejects the post, after the checks of its fields, with the time of the reset.
    if (code === 'quota_exceeded') caller.postLimit = 0;
    else if (code === WEBHOOK_FAILURE) await this.webhooks.failNext(caller.clientId);
    else if (code !== undefined) throw documented.get(code) ?? new Error(`${code} is unknown.`);
    return true;
  }
}

function invalidHeader(description: string): InvalidRequest {
  return InvalidRequest.field(HEADER, 'not_allowed_value', description);
}

/** Documents the header of an operation of the API. */
export const AcceptsTestFault = (): MethodDecorator =>
  applyDecorators(
    ApiTestFault(
      'Test apps only; ignored for real apps. `quota_exceeded`, `too_many_requests`, `service_unavailable`, ' +
        '`insufficient_scope` and `invalid_token` return that error, if the operation has it, and store nothing. ' +
        '`webhook_failure` makes the next delivery of an event to the app fail. ',
    ),
    ApiErrors(
      invalidHeader(invalidFault(['service_unavailable', 'invalid_token', WEBHOOK_FAILURE])),
    ),
  );

/** Documents the header. @param errors the sentences about error codes */
export const ApiTestFault = (errors: string): MethodDecorator =>
  ApiHeader({
    name: HEADER,
    description: `${errors}\`lost_response\` executes the request, then closes the connection without a response. \`slow=2500\` waits for so many milliseconds first, at most ${MAX_SLOW_MS}.`,
    required: false,
    // Without an example, because Swagger UI would send it by default.
    schema: { type: 'string' },
  });
