import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type {
  Attributes,
  Span,
  SpanKind,
  TextMapGetter,
  TextMapPropagator,
} from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Request, Response } from 'express';
import { SECOND } from '../clock.js';
import { responseStatus, routeOf } from '../http/http-request-context.js';
import { outsideOfRequests } from '../request-context.js';
import { VERSION } from '../version.js';

export interface Tracing {
  /** The trace id of the current request: 32 hexadecimal digits. */
  currentTraceId: () => string | undefined;
  /** Sends the remaining spans, for up to two seconds. Never rejects. */
  stop: () => Promise<void>;
}

const SERVICE_NAME = 'developer-platform';
const FLUSH_TIMEOUT_MS = 2 * SECOND;

/** Probes and scrapes repeat every few seconds. They would hide the requests of clients. */
const UNTRACED_TARGETS = new Set(['/livez', '/readyz', '/metrics']);

/** All other attributes are removed, such as paths, queries and addresses: they contain codes, tokens and personal data. */
const ATTRIBUTES = new Set([
  'error.type',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'network.protocol.version',
  'server.address',
  'server.port',
  'url.scheme',
]);

/**
 * Starts OpenTelemetry: one span per HTTP request, and one per call of the SMS gateway. Imports its packages here, so that they are
 * loaded only if tracing is on. The packages read the `OTEL_` variables of the sampler, the exporter and the resource
 * themselves; those that choose an exporter or a propagator have no effect.
 * @param options.collector URL for the warning that spans cannot be sent
 * @param options.publicUrl the address of the service in spans
 */
export async function startTracing({
  collector,
  publicUrl,
}: {
  collector: string;
  publicUrl: string;
}): Promise<Tracing> {
  const [api, core, resources, sdk, { OTLPTraceExporter }, http, undici] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/instrumentation-http'),
    import('@opentelemetry/instrumentation-undici'),
  ]);
  const logger = new Logger('Tracing');
  const reportFailure = warnOnce(logger, collector);
  const warn = (...parts: unknown[]): void => logger.warn(parts.join(' '));
  // Only errors and warnings, such as an unknown sampler.
  const levels = { error: warn, warn, info: warn, debug: warn, verbose: warn };
  api.diag.setLogger(levels, api.DiagLogLevel.WARN);
  core.setGlobalErrorHandler(reportFailure);
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .defaultResource()
      .merge(
        resources.resourceFromAttributes({
          'service.name': SERVICE_NAME,
          'service.version': VERSION,
        }),
      )
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [
      redaction(addressOf(publicUrl), api.SpanKind.SERVER),
      new sdk.BatchSpanProcessor(new OTLPTraceExporter()),
    ],
  });
  provider.register({ propagator: traceparentOnly(new core.W3CTraceContextPropagator()) });
  const instrumentations = [
    new http.HttpInstrumentation({
      disableOutgoingRequestInstrumentation: true,
      ignoreIncomingRequestHook: ({ url = '' }) => UNTRACED_TARGETS.has(url),
      applyCustomAttributesOnSpan: (span, request, response) =>
        describeRequest(span, request as Request, response as unknown as Response),
    }),
    // For `fetch`.
    new undici.UndiciInstrumentation(),
  ];
  for (const instrumentation of instrumentations) instrumentation.setTracerProvider(provider);
  // Now, HttpInstrumentation patches the prototype of all servers.
  createRequire(import.meta.url)('node:http');
  // From here on, the SDK would log each failed export and each dropped span.
  api.diag.disable();
  return {
    currentTraceId: () => api.trace.getActiveSpan()?.spanContext().traceId,
    stop: async () => {
      await Promise.race([provider.shutdown().catch(reportFailure), sleep(FLUSH_TIMEOUT_MS)]);
    },
  };
}

/** Ignores `tracestate` and baggage, texts of the client that would reach the collector and the gateway. */
function traceparentOnly(propagator: TextMapPropagator): TextMapPropagator {
  return {
    inject: (...parameters) => propagator.inject(...parameters),
    extract: (context, carrier, getter: TextMapGetter) =>
      propagator.extract(context, carrier, {
        keys: (headers) => getter.keys(headers),
        get: (headers, name) => (name === 'traceparent' ? getter.get(headers, name) : undefined),
      }),
    fields: () => ['traceparent'],
  };
}

/** Route and status as in the access log. The instrumentation knows neither routes nor disconnected clients. */
function describeRequest(span: Span, request: Request, response: Response): void {
  const route = routeOf(request);
  span.updateName(`${request.method} ${route}`);
  span.setAttributes({
    'http.route': route,
    'http.response.status_code': responseStatus(response),
  });
}

function addressOf(publicUrl: string): Attributes {
  const { protocol, hostname, port } = new URL(publicUrl);
  const scheme = protocol.slice(0, -1);
  return {
    'server.address': hostname,
    'server.port': Number(port) || (scheme === 'https' ? 443 : 80),
    'url.scheme': scheme,
  };
}

/**
 * Runs before the processor that sends spans. Messages and stacks of errors may contain addresses, too.
 * @param server the address in spans of requests to the service. The instrumentation takes it from headers, which a client can choose.
 */
function redaction(server: Attributes, serverKind: SpanKind): SpanProcessor {
  return {
    onStart: () => undefined,
    onEnd: ({ kind, attributes, events, status }: ReadableSpan) => {
      for (const name of Object.keys(attributes))
        if (!ATTRIBUTES.has(name)) delete attributes[name];
      if (kind === serverKind) Object.assign(attributes, server);
      events.length = 0;
      delete status.message;
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
}

/** A collector may be unavailable for hours, and each batch of spans would fail. */
function warnOnce(logger: Logger, collector: string): (error: unknown) => void {
  let hasWarned = false;
  return (error) => {
    if (hasWarned) return;
    hasWarned = true;
    // The timer of the exporter belongs to the request that started it.
    outsideOfRequests(() =>
      logger.warn(
        `Spans could not be sent to ${collector}: ${reasonOf(error)}. Further failures are not logged.`,
      ),
    );
  };
}

/** An error for several addresses of one host has a code, but no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as NodeJS.ErrnoException).code);
}
