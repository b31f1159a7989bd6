import { parse } from 'node:querystring';
import type { NestApplicationOptions } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Clock } from './common/clock.js';
import type { AppConfig } from './config/app-config.js';
import { serveDocumentation } from './operations/docs/openapi-document.js';
import { pinoFor } from './operations/log/pino.js';
import { ServiceLogger } from './operations/log/service-logger.js';
import { RequestWatch } from './operations/requests/request-watch.js';
import { limitArrival, limitUnread } from './http/arrival.js';
import { CallLogMiddleware } from './modules/quota/call-log.middleware.js';
import { inTurn } from './http/in-turn.js';
import { developerApi } from './http/developer-api.js';
import { readTargets } from './http/request-target.js';
import { requestContext } from './http/request-context.js';
import { DEV_V1 } from './http/routes.js';
import { Shutdown } from './operations/shutdown/shutdown.js';

/** How the application is created: bodies are read where they belong, not for every route. */
export function applicationOptions(config: AppConfig): NestApplicationOptions {
  return {
    bodyParser: false,
    abortOnError: false,
    logger: new ServiceLogger(pinoFor(config)),
  };
}

/** What the application has beside its modules. The server, the tests and the document's generator all go through here. */
export function configureApp(app: NestExpressApplication, config: AppConfig): void {
  app.set('trust proxy', config.server.trustProxy);
  // Express reads its own settings for these when the router is made, which the adapter's constructor has done by now.
  Object.assign(app.getHttpAdapter().getInstance().router, { strict: true, caseSensitive: true });
  // Node's own parser stops after a thousand names, and what came later would be ignored. The size of the headers bounds them.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  limitArrival(app.getHttpServer(), config.server.requestTimeoutMs);
  limitUnread(app.getHttpServer());
  readTargets(app.getHttpServer());
  app.use(
    inTurn(requestContext(app.get(Clock)), app.get(RequestWatch).watch, app.get(Shutdown).track),
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
  app.use(`/${DEV_V1}`, inTurn(developerApi, app.get(CallLogMiddleware).record));
  serveDocumentation(app, config);
}
