import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { type Counter, Gauge, Histogram } from 'prom-client';
import {
  CLIENT_CLOSED_REQUEST,
  HEALTH_ROUTES,
  responseStatus,
  routeOf,
} from '../http/http-request-context.js';
import { Bulkhead } from '../http/server/bulkhead.js';
import { ACCESS_LOG_CONTEXT } from './logger.js';
import { Metrics, modeOf } from './metrics.js';

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Methods with their own label value. All others share the value `other`, to limit cardinality. */
const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST']);
const DENIED = new Set([401, 403]);

/** Logs and measures every request. Omits path and query, which may contain secrets. */
@Injectable()
export class AccessLog {
  private readonly logger = new Logger(ACCESS_LOG_CONTEXT);
  private readonly duration: Histogram<'method' | 'route' | 'status' | 'mode'>;
  private readonly inFlight: Gauge;
  private readonly denied: Counter<'reason' | 'mode'>;

  constructor(metrics: Metrics, bulkhead: Bulkhead) {
    const registers = [metrics.registry];
    this.duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from a request to the end of its response, by route pattern; status 499 if the client closed the connection.',
      labelNames: ['method', 'route', 'status', 'mode'],
      buckets: BUCKETS,
      registers,
    });
    this.inFlight = new Gauge({
      name: 'http_requests_in_flight',
      help: 'Requests in progress.',
      registers,
    });
    metrics.registerGauge(
      'http_requests_waiting',
      'Requests in the queue of the bulkhead.',
      () => bulkhead.waiting,
    );
    this.denied = metrics.counter(
      'access_denied_total',
      'Responses with status 401 or 403, by error code.',
      'reason',
      'mode',
    );
  }

  /** Middleware. */
  readonly record = (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    this.inFlight.inc();
    response.once('close', () => this.end(request, response, performance.now() - startedAt));
    next();
  };

  private end(request: Request, response: Response, durationMs: number): void {
    const { requestId, clientRequestId, traceId, clientId, errorCode } = request.context;
    const { method } = request;
    const route = routeOf(request);
    const status = responseStatus(response);
    const error = status === CLIENT_CLOSED_REQUEST ? undefined : errorCode;
    this.inFlight.dec();
    const mode = modeOf(clientId);
    const labels = { method: METHODS.has(method) ? method : 'other', route, status, mode };
    this.duration.observe(labels, durationMs / 1000);
    if (DENIED.has(status)) this.denied.inc({ reason: error ?? 'unknown', mode });
    // Load balancers probe the health every few seconds.
    this.logger[HEALTH_ROUTES.has(route) ? 'debug' : 'log']({
      msg: 'request',
      request_id: requestId,
      client_request_id: clientRequestId,
      trace_id: traceId,
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      client_id: clientId,
      error,
    });
  }
}
