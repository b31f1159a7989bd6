import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Clock } from '../../common/clock.js';
import { CallLog, CREATED, PUBLISH_ROUTE } from './call-log.service.js';

/** Records every developer API call of a known app when its answer has left, except the publishes, which record themselves. */
@Injectable()
export class CallLogMiddleware implements NestMiddleware {
  constructor(
    private readonly calls: CallLog,
    private readonly clock: Clock,
  ) {}

  use(request: Request, response: Response, next: NextFunction): void {
    response.once('close', () => {
      const { caller } = request;
      if (!caller) return;
      const route = `${request.method} ${(request.route as { path: string }).path}`;
      const status = response.statusCode;
      if (route === PUBLISH_ROUTE && status === CREATED) return;
      const { clientId, userId, requestId, receivedAt: at } = caller;
      const durationMs = this.clock.now().getTime() - at.getTime();
      this.calls.record({ at, clientId, userId, route, status, durationMs, requestId });
    });
    next();
  }
}
