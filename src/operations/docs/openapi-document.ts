import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { SECURITY_SCHEME } from '../../access/security-scheme.js';
import { SCOPES } from '../../common/scopes.js';
import type { AppConfig } from '../../config/app-config.js';

const VERSION = '1.0.0';

const SCOPE_DESCRIPTIONS: Readonly<Record<(typeof SCOPES)[number], string>> = {
  'profile.read': 'Name, photo, karma and neighbourhood',
  'posts.read': "Read the user's own posts and their comments",
  'posts.write': 'Publish and delete posts; post and delete comments',
  'analytics.read': 'Counts of likes and comments per post',
};

/** The published contract, generated from the running module graph and sorted, so that a change of it reads as one. */
export function openApiDocument(app: NestExpressApplication): OpenAPIObject {
  const settings = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Developer API')
    .setDescription(
      'Act for a user of the neighbourhood network, after the user allowed it: read the profile, publish, read and delete ' +
        'posts, read analytics, and list, add and delete comments. Times are UTC; texts are counted in Unicode code points.',
    )
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
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
    .build();
  return sorted(SwaggerModule.createDocument(app, settings, { autoTagControllers: false }));
}

/** Serves the document at `/openapi.json` and Swagger UI over it at `/docs`. */
export function serveDocumentation(app: NestExpressApplication, config: AppConfig): void {
  app.use('/docs', (_request: Request, response: Response, next: NextFunction) => {
    response.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    next();
  });
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
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
