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
  ERRORS_MARKDOWN,
  MARKDOWN_TYPE,
  markdownPath,
  OVERVIEW,
  REFERENCE_MARKDOWN,
  POSTMAN_COLLECTION,
  POSTMAN_ENVIRONMENT,
  SWAGGER_UI_FILES,
} from './served-files.js';
import { openApiDocument } from './openapi-document.js';
import { referenceMarkdown } from './reference-markdown.js';
import { foldedPanels, withoutAuthorize, withoutEmptyFields } from './swagger-ui-plugins.js';

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
  ERRORS_MARKDOWN,
  REFERENCE_MARKDOWN,
  FEED_PATH,
  `/${CLIENT_PACKAGE}`,
  `/${POSTMAN_COLLECTION}`,
  `/${POSTMAN_ENVIRONMENT}`,
  ...SWAGGER_UI_FILES.map((file) => `/docs/${file}`),
  INIT_SCRIPT,
]);

/**
 * Without dots, except in the suffix: Swagger UI's static files would resolve `..`. The overview is at the path of the guide, and has
 * its own name only as Markdown.
 */
const GUIDE_PAGE = new RegExp(`^${GUIDE_PATH}(/(?!${OVERVIEW}$)[\\w-]+(\\.md)?)?$`);

/** The pages besides `/docs` that exist as Markdown, too. */
function markdownPathOf(path: string): string | undefined {
  if (path === '/docs/errors') return ERRORS_MARKDOWN;
  if (path === GUIDE_PATH) return markdownPath(OVERVIEW);
  return GUIDE_PAGE.test(path) && !path.endsWith('.md') ? `${path}.md` : undefined;
}

function prefersMarkdown(request: Request, response: Response): boolean {
  response.vary('Accept');
  return request.accepts(['html', 'text/markdown']) === 'text/markdown';
}

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
    const markdown = markdownPathOf(path);
    if (markdown !== undefined && prefersMarkdown(request, response))
      request.url = markdown.slice('/docs'.length);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === INIT_SCRIPT) compressSent(response);
    if (!isRead || !sendCompressedFile(path, response, next)) next();
  });
  let built: OpenAPIObject | undefined;
  const document = (): OpenAPIObject => (built ??= openApiDocument(app, config));
  let openApi: PublicText | undefined;
  const express = app.getHttpAdapter().getInstance();
  express.get('/openapi.json', (_request, response) => {
    openApi ??= new PublicText(JSON.stringify(document()));
    return openApi.send(response.type('json'));
  });
  let reference: PublicText | undefined;
  const sendReference = (response: Response): Promise<void> => {
    reference ??= new PublicText(referenceMarkdown(document()));
    return reference.send(response.type(MARKDOWN_TYPE));
  };
  express.get(REFERENCE_MARKDOWN, (_request, response) => sendReference(response));
  express.get('/docs', (request, response, next) => {
    if (prefersMarkdown(request, response)) return sendReference(response);
    linkReference(response);
    next();
    return undefined;
  });
  const initOAuth = {
    clientId: '',
    usePkceWithAuthorizationCodeGrant: true,
    scopes: [...SCOPES],
  };
  const plugins = [foldedPanels, withoutEmptyFields];
  let shown: OpenAPIObject | undefined;
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
        plugins.splice(2, Infinity, ...(docsApp ? [] : [withoutAuthorize]));
        return (shown ??= withEmptyForms(patched));
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

/** Links to the reference as Markdown in the page that `SwaggerModule` sends, whose template has no place for it. */
function linkReference(response: Response): void {
  response.send = (html: string) => {
    delete (response as Partial<Response>).send;
    const link = `<link rel="alternate" type="text/markdown" href="${REFERENCE_MARKDOWN}">`;
    return response.send(html.replace('</head>', `${link}\n</head>`));
  };
}

/** A form in the document. */
interface Form {
  schema: { properties: Record<string, object> };
}

/** A copy of the document with empty examples of form fields: Swagger UI would fill in the text "string", or one that fits the pattern. */
function withEmptyForms(document: OpenAPIObject): OpenAPIObject {
  return JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (name === 'application/x-www-form-urlencoded')
      for (const field of Object.values((value as Form).schema.properties))
        if (!('enum' in field)) Object.assign(field, { example: '' });
    return value;
  }) as OpenAPIObject;
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
