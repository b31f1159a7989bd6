import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Clock } from '../../common/clock.js';
import { answeredStatus, routeOf } from '../../http/request-outcome.js';
import { CallLog } from './call-log.service.js';

/** Records every developer API call of a known app when its answer has left, except the publishes, which record themselves. */
@Injectable()
export class CallLogMiddleware {
  constructor(
    private readonly calls: CallLog,
    private readonly clock: Clock,
  ) {}

  readonly record = (request: Request, response: Response, next: NextFunction): void => {
    response.once('close', () => {
      const { caller } = request;
      if (!caller) return;
      const route = `${request.method} ${routeOf(request)}`;
      const status = answeredStatus(response);
      const durationMs = this.clock.now().getTime() - caller.receivedAt.getTime();
      this.calls.record(caller, { route, status, durationMs });
    });
    next();
  };
}
