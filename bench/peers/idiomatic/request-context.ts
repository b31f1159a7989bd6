import type { NextFunction, Request, Response } from 'express';
import { newId } from '../../../src/platform/ids.js';
import { noteRequest } from '../request-log.js';

declare global {
  namespace Express {
    interface Request {
      requestId: string;
      receivedAt: Date;
    }
  }
}

/** Headers that scripts of other origins may read. */
export const EXPOSED_HEADERS = [
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
];

/** Gives each request its id, its time and its line of the log, and each answer the headers that all have. */
export function requestContext(request: Request, response: Response, next: NextFunction): void {
  const startedAt = performance.now();
  request.receivedAt = new Date();
  request.requestId = newId('req', request.receivedAt);
  response.set({ 'X-Request-Id': request.requestId, 'Cache-Control': 'private, no-cache' });
  response.on('close', () => {
    const { requestId, method } = request;
    const route = String(request.route?.path);
    const durationMs = performance.now() - startedAt;
    noteRequest({ requestId, method, route, status: response.statusCode, durationMs });
  });
  next();
}
