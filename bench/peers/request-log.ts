import { pino } from 'pino';
import { Histogram, Registry } from 'prom-client';

const logger = pino({ base: null }, pino.destination({ dest: 1, sync: false }));

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests in seconds.',
  labelNames: ['method', 'route', 'status'],
  registers: [new Registry()],
});

export interface CompletedRequest {
  requestId: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  clientId?: string | undefined;
}

/** Writes a log line and updates the histogram, as a service in production does for each request. */
export function logRequest(request: CompletedRequest): void {
  const { requestId, method, route, status, durationMs, clientId } = request;
  duration.observe({ method, route, status }, durationMs / 1000);
  const fields = { request_id: requestId, method, route, status, duration_ms: durationMs };
  logger.info({ ...fields, client_id: clientId }, 'request');
}
