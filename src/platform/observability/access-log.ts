import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Counter, Gauge, Histogram } from 'prom-client';
import { answeredStatus, CLIENT_LEFT, routeOf } from '../http/request-context.js';
import { Bulkhead } from '../http/server/bulkhead.js';
import { REQUESTS } from './logger.js';
import { Metrics } from './metrics.js';

/** What is told of a request once its answer has left, or its client has. */
export interface EndedRequest {
  requestId: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  /** The app that makes it, or that a form of ours is filled in for; undefined until it is known. */
  clientId?: string;
  /** The error that it was answered with. */
  errorCode?: string;
}

export function endedRequest(
  request: Request,
  response: Response,
  durationMs: number,
): EndedRequest {
  const { method, context, authenticatedClient, pending } = request;
  const { requestId, caller, errorCode } = context;
  const status = answeredStatus(response);
  return {
    requestId,
    method,
    route: routeOf(request),
    status,
    durationMs,
    clientId: (caller ?? authenticatedClient ?? pending?.app)?.clientId,
    errorCode: status === CLIENT_LEFT ? undefined : errorCode,
  };
}

/** PendingRequest every few seconds, each by several machines. */
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

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A server takes some thirty methods from anybody; those that nothing here takes are one, so that nobody fills the memory. */
const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST']);
const DENIED = new Set([401, 403]);

/** Counts and times the requests of this process. Every label has a bounded number of values. */
@Injectable()
export class RequestMetrics {
  private readonly duration: Histogram<'method' | 'route' | 'status'>;
  private readonly inFlight: Gauge;
  private readonly denied: Counter<'reason'>;

  constructor(metrics: Metrics, bulkhead: Bulkhead) {
    const registers = [metrics.registry];
    this.duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from a request to the end of its answer, by the pattern of its route; status 499 when the client left.',
      labelNames: ['method', 'route', 'status'],
      buckets: BUCKETS,
      registers,
    });
    this.inFlight = new Gauge({
      name: 'http_requests_in_flight',
      help: 'Requests that are being answered.',
      registers,
    });
    metrics.watch(
      'http_requests_waiting',
      'Requests that wait until others are answered.',
      () => bulkhead.waiting,
    );
    this.denied = new Counter({
      name: 'access_denied_total',
      help: 'Requests that were answered 401 or 403, by error code.',
      labelNames: ['reason'],
      registers,
    });
  }

  begin(): void {
    this.inFlight.inc();
  }

  end({ method, route, status, durationMs, errorCode }: EndedRequest): void {
    this.inFlight.dec();
    const labels = { method: METHODS.has(method) ? method : 'other', route, status };
    this.duration.observe(labels, durationMs / 1000);
    if (DENIED.has(status)) this.denied.inc({ reason: errorCode ?? 'unknown' });
  }
}

/** Sees every request that has an id to its end, whoever answers it. */
@Injectable()
export class RequestWatch {
  constructor(
    private readonly log: RequestLog,
    private readonly metrics: RequestMetrics,
  ) {}

  /** Middleware. Time is taken by a stopwatch, which nobody sets back. */
  readonly watch = (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    this.metrics.begin();
    response.once('close', () => {
      const ended = endedRequest(request, response, performance.now() - startedAt);
      this.metrics.end(ended);
      this.log.write(ended);
    });
    next();
  };
}
