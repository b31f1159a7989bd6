import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Clock } from '../common/clock.js';
import { duringRequest, type CurrentRequest } from '../common/current-request.js';
import type { FieldError } from '../common/errors.js';
import { newId } from '../common/ids.js';
import { ipAddressIn } from '../common/ip-address.js';
import { limited } from '../common/time-limit.js';

declare global {
  namespace Express {
    interface Request {
      /** What error bodies, logs and the call log know this request by. */
      requestId: string;
      receivedAt: Date;
      /** What `callerAddress` tells, once it was asked. */
      callerAddress?: string | null;
    }
  }
}

/** Of ids that a caller may choose; our own are such, too. */
export const REQUEST_ID_PATTERN = '^[A-Za-z0-9._-]{1,64}$';
const ACCEPTABLE = new RegExp(REQUEST_ID_PATTERN);

/** Gives every request an id, the caller's own where it sent a plain one in `X-Request-Id`, and answers with it. */
export function requestContext(clock: Clock): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const sent = request.get('x-request-id');
    request.receivedAt = clock.now();
    request.requestId =
      sent !== undefined && ACCEPTABLE.test(sent) ? sent : newId('req', request.receivedAt);
    response.setHeader('X-Request-Id', request.requestId);
    keepAddress(request);
    duringRequest(new ServedRequest(request), () => limited(next, () => response.writableEnded));
  };
}

class ServedRequest implements CurrentRequest {
  readonly requestId: string;
  violations: FieldError[] = [];

  constructor(private readonly request: Request) {
    this.requestId = request.requestId;
  }

  get address(): string | null {
    return callerAddress(this.request);
  }
}

/** A socket tells its address also after its end, if it was asked before. */
function keepAddress({ socket }: Request): void {
  void socket.remoteAddress;
}

/**
 * IP address of the caller: the socket's, or what trusted proxies tell; never from a header that a stranger can set. Null when a
 * proxy tells none.
 */
export function callerAddress(request: Request): string | null {
  if (request.callerAddress === undefined) request.callerAddress = ipAddressIn(request.ip);
  return request.callerAddress;
}
