import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { toHtml } from '../pages/translations/markup.js';
import { CATALOGUES } from '../pages/translations/translations.js';
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
    customSiteTitle: `Developer API – ${toHtml(networkName(config))}`,
    customfavIcon: config.brand.logo ? '/assets/logo' : '/assets/icon.svg',
    customCss: topBarCss(config),
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

function networkName({ brand }: AppConfig): string {
  return brand.name ?? CATALOGUES.en.layout.network;
}

/** Replaces Swagger's logo and colour by those of the network. */
function topBarCss(config: AppConfig): string {
  const { colors, logo } = config.brand;
  const background = colors?.light.accent ?? '#0d5c4d';
  // JSON escapes like CSS, except for the end of the style element.
  const name = JSON.stringify(networkName(config)).replaceAll('<', '\\3c ');
  const image =
    logo && 'padding-left: 42px; background: url(/assets/logo) left center / 32px 32px no-repeat;';
  return `
    .swagger-ui .topbar { background: ${background}; }
    .swagger-ui .topbar .link { display: none; }
    .swagger-ui .topbar .topbar-wrapper::before {
      content: ${name}; color: #ffffff; font: 600 1.125rem/32px sans-serif;
      ${image ?? ''}
    }`;
}
