import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';

declare global {
  namespace Express {
    interface Request {
      /** What error bodies, logs and the call log know this request by. */
      requestId: string;
      receivedAt: Date;
    }
  }
}

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives every request an id, the caller's own where it sent a plain one in `X-Request-Id`, and answers with it. */
@Injectable()
export class RequestContextMiddleware implements NestMiddleware {
  constructor(private readonly clock: Clock) {}

  use(request: Request, response: Response, next: NextFunction): void {
    const sent = request.get('x-request-id');
    request.receivedAt = this.clock.now();
    request.requestId =
      sent !== undefined && ACCEPTABLE.test(sent) ? sent : newId('req', request.receivedAt);
    response.setHeader('X-Request-Id', request.requestId);
    next();
  }
}
