import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { newId } from '../../../../src/platform/ids.js';
import { CallsService } from './calls.service.js';

/** A 201 of this route is recorded in the transaction that publishes the post. */
export const PUBLISH_ROUTE = 'POST /dev/v1/posts';

@Injectable()
export class CallLogMiddleware implements NestMiddleware {
  constructor(private readonly calls: CallsService) {}

  use(request: Request, response: Response, next: NextFunction): void {
    response.on('finish', () => this.record(request, response.statusCode));
    next();
  }

  private record(request: Request, status: number): void {
    const { caller, receivedAt, requestId, method } = request;
    if (!caller) return;
    const { path } = request.route as { path: string };
    const route = `${method} ${path}`;
    if (route === PUBLISH_ROUTE && status === 201) return;
    this.calls.record({
      at: receivedAt,
      id: newId('call', receivedAt),
      clientId: caller.app.clientId,
      userId: caller.user.id,
      route,
      status,
      durationMs: Date.now() - receivedAt.getTime(),
      requestId,
      countsAgainstQuota: false,
    });
  }
}
