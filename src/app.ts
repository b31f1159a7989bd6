import { parse } from 'node:querystring';
import type { NestApplicationOptions } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Clock } from './platform/clock.js';
import type { AppConfig } from './platform/config/app-config.js';
import { serveDocumentation } from './docs/openapi-document.js';
import { pinoFor, ServiceLogger } from './platform/observability/logger.js';
import { AccessLog } from './platform/observability/access-log.js';
import { setServerLimits, setWriteTimeout } from './platform/http/server/request-body.js';
import { CallLog } from './modules/quota/calls/call-log.service.js';
import { DEV_V1, developerApi, compose } from './platform/http/developer-api.js';
import { replaceInvalidTargets } from './platform/http/server/express-server.js';
import { requestContext } from './platform/http/request-context.js';
import { Shutdown } from './platform/lifecycle/shutdown.js';

/** How the application is created: bodies are read where they belong, not for every route. */
export function applicationOptions(config: AppConfig): NestApplicationOptions {
  return {
    bodyParser: false,
    abortOnError: false,
    logger: new ServiceLogger(pinoFor(config)),
  };
}

/** Configures the application beside its modules, for the server, the tests and the generator of the document. */
export function configureApp(app: NestExpressApplication, config: AppConfig): void {
  app.set('trust proxy', config.server.trustProxy);
  // Node's own parser stops after a thousand names, and what came later would be ignored. The size of the headers bounds them.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  setServerLimits(app.getHttpServer(), config.server.requestTimeoutMs);
  setWriteTimeout(app.getHttpServer());
  replaceInvalidTargets(app.getHttpServer());
  app.use(
    compose(requestContext(app.get(Clock)), app.get(AccessLog).record, app.get(Shutdown).track),
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
  app.use(`/${DEV_V1}`, compose(developerApi, app.get(CallLog).middleware));
  serveDocumentation(app, config);
}
