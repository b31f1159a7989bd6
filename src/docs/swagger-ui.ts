import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { SCOPES } from '../platform/access/scopes.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { UnknownPath } from '../platform/http/errors/http-error.js';
import { GUIDE_PATH } from './error-catalogue.js';
import { openApiDocument } from './openapi-document.js';

/** The paths under `/docs` that exist. Other files of Swagger UI's package are not served. */
const SERVED_PATHS: ReadonlySet<string> = new Set([
  '/docs/',
  '/docs/errors',
  GUIDE_PATH,
  ...[
    'favicon-16x16.png',
    'favicon-32x32.png',
    'oauth2-redirect.html',
    'oauth2-redirect.js',
    'swagger-ui.css',
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
    'swagger-ui-init.js',
    'swagger-ui-standalone-preset.js',
    'swagger-ui-standalone-preset.js.LICENSE.txt',
  ].map((file) => `/docs/${file}`),
]);

/** Serves the OpenAPI document at `/openapi.json` and Swagger UI at `/docs`. */
export function serveDocumentation(app: NestExpressApplication, config: AppConfig): void {
  app.use('/docs', (request: Request, response: Response, next: NextFunction) => {
    if (request.path === '/index.html') {
      response.redirect(301, '/docs');
      return;
    }
    if (!SERVED_PATHS.has(`/docs${request.path}`)) {
      next(new UnknownPath());
      return;
    }
    response.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    next();
  });
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    // YAML is disabled, because it would be rendered for every request.
    raw: ['json'],
    customSiteTitle: 'Developer API',
    swaggerOptions: {
      oauth2RedirectUrl: `${config.publicUrl}/docs/oauth2-redirect.html`,
      initOAuth: {
        clientId: config.docsClientId,
        usePkceWithAuthorizationCodeGrant: true,
        scopes: [...SCOPES],
      },
      persistAuthorization: false,
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
  });
}
