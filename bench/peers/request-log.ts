import { pino } from 'pino';
import { Histogram, Registry } from 'prom-client';

const logger = pino({ base: null }, pino.destination({ dest: 1, sync: false }));

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from a request to the end of its answer.',
  labelNames: ['method', 'route', 'status'],
  registers: [new Registry()],
});

export interface AnsweredRequest {
  requestId: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  clientId?: string | undefined;
}

/** What a service in production notes of each request: a line of its log, and a histogram. */
export function noteRequest(request: AnsweredRequest): void {
  const { requestId, method, route, status, durationMs, clientId } = request;
  duration.observe({ method, route, status }, durationMs / 1000);
  const told = { request_id: requestId, method, route, status, duration_ms: durationMs };
  logger.info({ ...told, client_id: clientId }, 'request');
}
