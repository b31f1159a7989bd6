import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { CLIENT_SECURITY_SCHEME, SECURITY_SCHEME } from '../platform/access/scopes.decorator.js';
import { SCOPES } from '../platform/access/scopes.js';
import { EXPOSED_HEADERS } from '../platform/http/developer-api.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { UnknownPath } from '../platform/http/errors/http-error.js';
import { describeResponses } from './responses.js';
import { VERSION } from '../platform/version.js';
import { GUIDE_PATH } from './error-catalogue.js';

const DESCRIPTION = `Act for a user of the neighbourhood network, after the user allowed it: read the profile, publish, read and delete posts, read analytics, and list, add and delete comments. Times are UTC; texts are counted in Unicode code points. The server is the origin that this document came from.

Within version 1 there are only additions: new operations, optional parameters and request headers, and new fields, headers and values of enumerations and codes in answers. Accept them. Whatever else changes comes as a new version; version 1 is then served for 12 more months, with the headers Deprecation (RFC 9745), Sunset (RFC 8594) and Link with rel="deprecation", and is answered 410 after that. What closes a security hole may come at once, and is said aloud.

Pages of any origin may call everything under /dev/v1 and read the answers, with these headers: ${EXPOSED_HEADERS.join(', ')}. What opens it is the access token, never a cookie.

There are no events and no webhooks: ask again with If-None-Match, which costs little. The guide to integrating an app is at [${GUIDE_PATH}](${GUIDE_PATH}). Every error code, of OAuth as well, is explained at [/docs/errors](/docs/errors).`;

/** Other files of Swagger UI's folder are not served. */
const SERVED: ReadonlySet<string> = new Set([
  '/docs/',
  '/docs/errors',
  GUIDE_PATH,
  ...[
    'index.html',
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

const SCOPE_DESCRIPTIONS: Readonly<Record<(typeof SCOPES)[number], string>> = {
  'profile.read': 'Name, photo, karma and neighbourhood',
  'posts.read': "Read the user's own posts and their comments",
  'posts.write': 'Publish and delete posts; post and delete comments',
  'analytics.read': 'Counts of likes and comments per post',
};

/** The published contract, generated from the module graph, and sorted for readable diffs. */
export function openApiDocument(app: NestExpressApplication): OpenAPIObject {
  const settings = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Developer API')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setExternalDoc('How to integrate an app: the flow, libraries, what may change', GUIDE_PATH)
    .addServer('/')
    .addTag('oauth', 'Getting the right to act for a user (RFC 6749, RFC 7636)')
    .addTag('users', 'The user who authorized the app')
    .addTag('posts', "The user's own posts")
    .addTag('comments', "Comments on the user's posts")
    .addTag('analytics', 'How posts are doing')
    .addTag('quota', 'What the app may still publish')
    .addOAuth2(
      {
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: '/oauth/authorize',
            tokenUrl: '/oauth/token',
            refreshUrl: '/oauth/token',
            scopes: SCOPE_DESCRIPTIONS,
          },
        },
      },
      SECURITY_SCHEME,
    )
    .addBasicAuth(
      {
        type: 'http',
        scheme: 'basic',
        description:
          "An app's client_id and client_secret (RFC 6749 §2.3.1). They may come in the form instead; a public app sends its client_id there, and nothing else.",
      },
      CLIENT_SECURITY_SCHEME,
    )
    .build();
  settings.info.contact = { name: 'The operator of the instance that you call' };
  const document = SwaggerModule.createDocument(app, settings, { autoTagControllers: false });
  return sorted(describeResponses(document));
}

/** Serves the document at `/openapi.json` and Swagger UI over it at `/docs`. */
export function serveDocumentation(app: NestExpressApplication, config: AppConfig): void {
  app.use('/docs', (request: Request, response: Response, next: NextFunction) => {
    if (!SERVED.has(`/docs${request.path}`)) {
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
    // YAML would be rendered for every request.
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

function sorted(document: OpenAPIObject): OpenAPIObject {
  const { paths, components } = document;
  return {
    ...document,
    paths: byKey(paths),
    components: { ...components, schemas: byKey(components?.schemas ?? {}) },
  };
}

function byKey<T>(entries: Record<string, T>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(entries).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}
