import { parse } from 'node:querystring';
import type { NestApplicationOptions } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Clock } from './platform/clock.js';
import type { AppConfig } from './platform/config/app-config.js';
import { POSTMAN_COLLECTION, POSTMAN_ENVIRONMENT } from './docs/served-files.js';
import { serveDocumentation } from './docs/swagger-ui.js';
import { pinoFor, ServiceLogger } from './platform/observability/logger.js';
import { AccessLog } from './platform/observability/access-log.js';
import { setServerLimits, setWriteTimeout } from './platform/http/server/request-body.js';
import { CallLog } from './modules/quota/calls/call-log.service.js';
import {
  compose,
  DEV_V1,
  developerApiHeaders,
  publicDocumentHeaders,
} from './platform/http/developer-api.js';
import { replaceInvalidRequestTargets } from './platform/http/server/express-server.js';
import { requestContext, trustFunction } from './platform/http/http-request-context.js';
import { Shutdown } from './platform/lifecycle/shutdown.js';

/** Options of `NestFactory.create`. No global body parser: each route reads its own body. */
export function applicationOptions(config: AppConfig): NestApplicationOptions {
  return {
    bodyParser: false,
    abortOnError: false,
    logger: new ServiceLogger(pinoFor(config)),
  };
}

/** What proxies that compress responses append to entity tags, such as `W/"1a-9Zx2-gzip"`: Apache, Caddy, Jetty and others. */
const CODING_SUFFIX = /[-;:_]{1,2}(?:br|deflate|gzip|zstd)(?=")/g;

/**
 * Prepares the headers of conditional requests for Express. `Cache-Control: no-cache` of a request speaks to caches, so the server
 * evaluates `If-None-Match` all the same (RFC 9110 §13.1.2): Express would not, and Node's `fetch` sends it with every condition.
 * `If-None-Match` gets our entity tags back; with those of a proxy, clients would never get a 304. No tag of ours ends like them.
 */
function prepareConditions({ headers }: Request, _response: Response, next: NextFunction): void {
  delete headers['cache-control'];
  const tags = headers['if-none-match'];
  if (tags !== undefined) headers['if-none-match'] = tags.replaceAll(CODING_SUFFIX, '');
  next();
}

/**
 * Middleware and settings outside of modules, shared by the server, the tests and the OpenAPI generator.
 * @param currentTraceId returns the trace of a request; undefined if tracing is off
 */
export function configureApp(
  app: NestExpressApplication,
  config: AppConfig,
  currentTraceId?: () => string | undefined,
): void {
  app.set('trust proxy', trustFunction(config.server.trustProxy));
  // By default, Node ignores parameters after the thousandth. The header size limits their number anyway.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  setServerLimits(app.getHttpServer(), config.server);
  setWriteTimeout(app.getHttpServer());
  replaceInvalidRequestTargets(app.getHttpServer());
  app.use(
    compose(
      prepareConditions,
      requestContext(app.get(Clock), currentTraceId),
      app.get(AccessLog).record,
      app.get(Shutdown).track,
    ),
  );
  app.useSecurityHeaders({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: "'none'",
        frameAncestors: "'none'",
        baseUri: "'none'",
        formAction: "'none'",
      },
    },
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: false,
    strictTransportSecurity: config.secure && { maxAge: 31_536_000, includeSubDomains: false },
    xFrameOptions: { action: 'deny' },
  });
  app.use(`/${DEV_V1}`, compose(developerApiHeaders, app.get(CallLog).middleware));
  app.use(
    [`/${POSTMAN_COLLECTION}`, `/${POSTMAN_ENVIRONMENT}`, '/openapi.json', '/.well-known'],
    publicDocumentHeaders,
  );
  serveDocumentation(app, config);
}
