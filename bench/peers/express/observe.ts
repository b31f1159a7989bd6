import type { RequestHandler } from 'express';
import type { Pool } from 'mysql2';
import { newId } from '../../../src/platform/ids.js';
import { CallLog } from '../call-log.js';
import { GrantUse } from '../grant-use.js';
import { logRequest } from '../request-log.js';

/** Records for each request what the service records: a log line and a metric (`logRequest`), the call and the last use of the grant. */
export function observe(pool: Pool): RequestHandler {
  const calls = new CallLog(pool);
  const grantUse = new GrantUse(pool);
  return (request, response, next) => {
    const startedAt = performance.now();
    request.receivedAt = new Date();
    request.requestId = newId('req', request.receivedAt);
    response.set('X-Request-Id', request.requestId);
    response.on('close', () => {
      const { access, receivedAt: at, requestId, method } = request;
      const route = `${request.baseUrl}${String(request.route?.path)}`;
      const status = response.statusCode;
      const durationMs = performance.now() - startedAt;
      logRequest({ requestId, method, route, status, durationMs, clientId: access?.clientId });
      if (!access) return;
      const { userId, clientId, grantId } = access;
      grantUse.markUsed(grantId, at);
      const call = { at, userId, clientId, route: `${method} ${route}`, status, requestId };
      calls.record({ ...call, durationMs: Math.round(durationMs) });
    });
    next();
  };
}

/** Adds response headers like those of the service. */
export const sendHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag, Link, Location, RateLimit, Retry-After, X-Request-Id',
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'Strict-Transport-Security': 'max-age=31536000',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  next();
};
