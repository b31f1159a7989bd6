import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { AppsService } from '../modules/oauth/clients/apps.service.js';
import { toHtml } from '../pages/translations/markup.js';
import { CATALOGUES } from '../pages/translations/translations.js';
import { SCOPES } from '../platform/access/scopes.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { assetUrl } from '../platform/asset-url.js';
import { UnknownPath } from '../platform/errors.js';
import { CODINGS, negotiateCoding, PublicText } from '../platform/http/compression.js';
import { FEED_PATH } from './changelog-feed.js';
import {
  GUIDE_PATH,
  CLIENT_PACKAGE,
  COMPRESSED_FILES,
  POSTMAN_COLLECTION,
  POSTMAN_ENVIRONMENT,
  SWAGGER_UI_FILES,
} from './served-files.js';
import { openApiDocument } from './openapi-document.js';

/** Dark mode, contrast (WCAG AA) and small screens. */
const PAGE_CSS = `
    html.dark-mode body { background: #1c2022; }
    html.dark-mode .swagger-ui table.headers td { color: #e4e6e6; }
    html:not(.dark-mode) .swagger-ui .opblock-summary-method { color: #16191a; text-shadow: none; }
    html:not(.dark-mode) .swagger-ui :is(.btn.authorize, .btn.authorize span) { border-color: #0b6b45; color: #0b6b45; }
    html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #0b6b45; }
    html:not(.dark-mode) .swagger-ui .btn.cancel { border-color: #b3261e; color: #b3261e; }
    html:not(.dark-mode) .swagger-ui .btn.execute { border-color: #1d4ed8; background: #1d4ed8; }
    html:not(.dark-mode) .swagger-ui :is(.info, .markdown, .scopes h2) a { color: #1d4ed8; }
    html:not(.dark-mode) .swagger-ui .parameter__name.required::after { color: #b3261e; }
    html:not(.dark-mode) .swagger-ui .info .title small { background: #4d5560; }
    html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: #3f6212; }
    html:not(.dark-mode) .swagger-ui .parameter__in { color: #55595c; }
    html.dark-mode .swagger-ui .btn.cancel { border-color: #ff8f8f; color: #ff8f8f; }
    .swagger-ui .highlight-code span[style*="211, 99, 99"] { color: #ff9c9c !important; }
    .swagger-ui :is(a, button, input, select, summary, textarea):focus-visible { outline: 3px solid #4b8df8; outline-offset: 2px; }
    .swagger-ui details.folded > summary { padding: 14px 20px; font: 600 14px/1.4 sans-serif; cursor: pointer; }
    .swagger-ui .auth-container details.folded > summary { padding: 14px 0; }
    .swagger-ui .responses-wrapper > .opblock-section-header, .swagger-ui .response-col_links { display: none; }
    @media (max-width: 640px) {
      .swagger-ui .responses-inner { padding: 8px; }
      .swagger-ui .response-col_status { width: 3em; min-width: 0; }
      .swagger-ui .responses-table td { overflow-wrap: anywhere; }
      .swagger-ui :is(table.headers, .headers tbody, .headers tr, .headers td) { display: block; }
      .swagger-ui .headers thead { display: none; }
      .swagger-ui .headers td { padding: 2px 0; }
      .swagger-ui .headers td + td { font-weight: 400; }
      .swagger-ui .headers td:last-child { margin-bottom: 8px; }
    }
    @media (scripting: none) {
      body::before { content: 'This page needs JavaScript. The developer guide at ${GUIDE_PATH} works without.'; display: block; padding: 20px; font: 16px/1.5 sans-serif; }
    }`;

/** Generated, with the options of Swagger UI. */
const INIT_SCRIPT = '/docs/swagger-ui-init.js';

/** The paths under `/docs` that exist. */
const SERVED_PATHS: ReadonlySet<string> = new Set([
  '/docs/',
  '/docs/errors',
  '/docs/integrate.md',
  FEED_PATH,
  `/${CLIENT_PACKAGE}`,
  `/${POSTMAN_COLLECTION}`,
  `/${POSTMAN_ENVIRONMENT}`,
  ...SWAGGER_UI_FILES.map((file) => `/docs/${file}`),
  INIT_SCRIPT,
]);

/** Without dots, except in the suffix: Swagger UI's static files would resolve `..`. */
const GUIDE_PAGE = /^\/docs\/guide(\/[\w-]+(\.md)?)?$/;

const MOVED_PATHS: Readonly<Record<string, string>> = {
  '/docs/index.html': '/docs',
  [`${GUIDE_PATH}/`]: GUIDE_PATH,
};

/** Serves the OpenAPI document at `/openapi.json` and Swagger UI at `/docs`. */
export function serveDocumentation(app: NestExpressApplication, config: AppConfig): void {
  app.use('/docs', (request: Request, response: Response, next: NextFunction) => {
    const path = `/docs${request.path}`;
    const moved = MOVED_PATHS[path];
    if (moved) {
      response.redirect(301, moved);
      return;
    }
    if (!SERVED_PATHS.has(path) && !GUIDE_PAGE.test(path)) {
      next(new UnknownPath());
      return;
    }
    response.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ${config.publicUrl}; frame-ancestors 'none'; base-uri 'none'`,
    );
    // `SwaggerModule` takes a slash at the end of a query for one at the end of the path, and links to files that do not exist.
    request.originalUrl = request.originalUrl.replace(/\?.*/s, '');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === INIT_SCRIPT) compressSent(response);
    if (!isRead || !sendCompressedFile(path, response, next)) next();
  });
  let built: OpenAPIObject | undefined;
  const document = (): OpenAPIObject =>
    (built ??= openApiDocument(app, config.publicUrl, config.brand.supportUrl));
  let openApi: PublicText | undefined;
  const express = app.getHttpAdapter().getInstance();
  express.get('/openapi.json', (_request, response) => {
    openApi ??= new PublicText(JSON.stringify(document()));
    return openApi.send(response.type('json'));
  });
  const initOAuth = {
    clientId: '',
    usePkceWithAuthorizationCodeGrant: true,
    scopes: [...SCOPES],
  };
  const plugins = [foldedPanels];
  SwaggerModule.setup('docs', app, document, {
    // Not at start, because another process may register or disable the app at any time.
    patchDocumentOnRequest: async (request, _response, patched) => {
      if ((request as Request).path === INIT_SCRIPT) {
        // Without the database, the page still shows the endpoints.
        const docsApp = await app
          .get(AppsService)
          .findDocsApp()
          .catch(() => null);
        initOAuth.clientId = docsApp?.clientId ?? '';
        plugins.splice(1, Infinity, ...(docsApp ? [] : [withoutAuthorize]));
      }
      return patched;
    },
    // Served compressed, above. YAML would be rendered for every request.
    raw: false,
    customSiteTitle: `Developer API – ${toHtml(networkName(config))}`,
    customfavIcon: config.brand.logo ? '/assets/logo' : '/assets/icon.svg',
    customCss: topBarCss(config) + PAGE_CSS,
    swaggerOptions: {
      oauth2RedirectUrl: config.docsRedirectUri,
      initOAuth,
      persistAuthorization: false,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      // Only the title of the schemas. Each operation shows its own.
      defaultModelsExpandDepth: 0,
      plugins,
    },
  });
}

/** False when the sources run without a build. */
const HAS_COMPRESSED_FILES = existsSync(assetUrl(COMPRESSED_FILES));

/** Sends a file of Swagger UI in the coding of the client. Returns false if it is not compressed, and is sent by `SwaggerModule`. */
function sendCompressedFile(path: string, response: Response, next: NextFunction): boolean {
  const name = SWAGGER_UI_FILES.find((file) => path === `/docs/${file}`);
  if (name === undefined || !HAS_COMPRESSED_FILES) return false;
  const coding = negotiateCoding(response);
  if (coding === undefined) return false;
  const file = fileURLToPath(assetUrl(`${COMPRESSED_FILES}/${name}${CODINGS[coding]}`));
  // The path of the installation may have a folder with a dot.
  response.type(name).sendFile(file, { dotfiles: 'allow' }, (error) => {
    if (error) next(error);
  });
  return true;
}

/** The newest script with the options, which has the whole document. It changes only with the app for the documentation. */
let initScript = new PublicText('');

/** Compresses the text that `SwaggerModule` sends. */
function compressSent(response: Response): void {
  response.send = (text: string) => {
    // The next call is that of `PublicText`.
    delete (response as Partial<Response>).send;
    if (initScript.text !== text) initScript = new PublicText(text);
    void initScript.send(response.type('js'));
    return response;
  };
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

/** The parts of Swagger UI's plugin interface that the plugins use. */
type Component = unknown;
interface System {
  React: {
    createElement: (type: Component, props: object | null, ...children: unknown[]) => unknown;
  };
}
interface Plugin {
  wrapComponents: Record<string, (original: Component, system: System) => Component>;
}
interface Panel {
  title: string;
  isOpen: (props: Record<string, unknown>) => boolean;
}

/**
 * A plugin of Swagger UI that folds panels. Basic authentication of apps is folded, because its field would take the focus from the
 * OAuth flow. The responses of an operation are folded until it is executed. Runs in the browser, so it must not use anything of
 * this file.
 */
function foldedPanels(): Plugin {
  const panels: Record<string, Panel> = {
    HttpAuth: { title: 'Credentials of an app', isOpen: () => false },
    responses: {
      title: 'Responses',
      isOpen: ({ tryItOutResponse }) => Boolean(tryItOutResponse),
    },
  };
  const wrapComponents: Plugin['wrapComponents'] = {};
  for (const [name, { title, isOpen }] of Object.entries(panels))
    wrapComponents[name] =
      (original, { React }) =>
      (props: Record<string, unknown>) =>
        React.createElement(
          'details',
          { className: 'folded', open: isOpen(props) },
          React.createElement('summary', null, title),
          React.createElement(original, props),
        );
  return { wrapComponents };
}

/** A plugin of Swagger UI that hides Authorize, which needs an app. Runs in the browser, so it must not use anything of this file. */
function withoutAuthorize(): Plugin {
  return {
    wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null },
  };
}
