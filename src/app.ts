import { parse } from 'node:querystring';
import type { NestApplicationOptions } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Clock } from './common/clock.js';
import type { AppConfig } from './config/app-config.js';
import { serveDocumentation } from './operations/docs/openapi-document.js';
import { QuietLogger } from './operations/quiet-logger.js';
import { noteAborted } from './http/aborted-requests.js';
import { limitArrival } from './http/arrival.js';
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
    logger: new QuietLogger({
      json: config.production,
      logLevels: logLevelsFrom(config.server.logLevel),
    }),
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
  readTargets(app.getHttpServer());
  app.use(requestContext(app.get(Clock)));
  app.use(noteAborted());
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
  app.use(app.get(Shutdown).track);
  app.use(`/${DEV_V1}`, developerApi);
  serveDocumentation(app, config);
}

function logLevelsFrom(least: AppConfig['server']['logLevel']): AppConfig['server']['logLevel'][] {
  const levels = ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'] as const;
  return levels.slice(0, levels.indexOf(least) + 1);
}
