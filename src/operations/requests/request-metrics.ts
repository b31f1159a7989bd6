import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Admission } from '../../http/admission.js';
import { Metrics } from '../../metrics/metrics.js';
import type { EndedRequest } from './ended-request.js';

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

  constructor(metrics: Metrics, admission: Admission) {
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
      () => admission.waiting,
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
