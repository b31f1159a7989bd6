import type { NextFunction, Request, Response } from 'express';
import { newId } from '../../../src/platform/ids.js';
import { logRequest } from '../request-log.js';

declare global {
  namespace Express {
    interface Request {
      requestId: string;
      receivedAt: Date;
    }
  }
}

/** CORS-exposed response headers. */
export const EXPOSED_HEADERS = [
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
];

/** Adds the request id, the time of receipt, the log line and the common response headers. */
export function requestContext(request: Request, response: Response, next: NextFunction): void {
  const startedAt = performance.now();
  request.receivedAt = new Date();
  request.requestId = newId('req', request.receivedAt);
  response.set({ 'X-Request-Id': request.requestId, 'Cache-Control': 'private, no-cache' });
  response.on('close', () => {
    const { requestId, method } = request;
    const route = String(request.route?.path);
    const durationMs = performance.now() - startedAt;
    logRequest({ requestId, method, route, status: response.statusCode, durationMs });
  });
  next();
}
