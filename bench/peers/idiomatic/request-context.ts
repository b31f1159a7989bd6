import type { NextFunction, Request, Response } from 'express';
import { newId } from '../../../src/common/ids.js';

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

/** Gives each request its id and its time, and each answer the headers that all have. */
export function requestContext(request: Request, response: Response, next: NextFunction): void {
  request.receivedAt = new Date();
  request.requestId = newId('req', request.receivedAt);
  response.set({ 'X-Request-Id': request.requestId, 'Cache-Control': 'private, no-cache' });
  next();
}
