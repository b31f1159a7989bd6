import { Injectable, Logger } from '@nestjs/common';
import { REQUESTS } from '../log/service-logger.js';
import type { EndedRequest } from './ended-request.js';

/** Asked every few seconds, each by several machines. */
const HEALTH = new Set(['/livez', '/readyz']);

/** One line a request. Neither path nor query is in it: both may hold what a log must not. */
@Injectable()
export class RequestLog {
  private readonly logger = new Logger(REQUESTS);

  write({ requestId, method, route, status, durationMs, clientId, errorCode }: EndedRequest): void {
    this.logger[HEALTH.has(route) ? 'debug' : 'log']({
      msg: 'request',
      request_id: requestId,
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      client_id: clientId,
      error: errorCode,
    });
  }
}
