import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { CLIENT_SECURITY_SCHEME, SECURITY_SCHEME } from '../platform/access/scopes.decorator.js';
import { SCOPE_DESCRIPTIONS } from '../platform/access/scopes.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { EXAMPLE_ORIGIN, EXPOSED_HEADERS } from '../platform/http/developer-api.js';
import { describeResponses } from './responses.js';
import { VERSION } from '../platform/version.js';
import { GUIDE_PATH } from './served-files.js';
import { webhooks } from './webhooks.openapi.js';

const description = (
  publicUrl: string,
): string => `The Developer API lets your app act for a user of the neighbourhood network after the user has authorized it. Your app can read the profile, publish, read and delete posts, read analytics, and list, add and delete comments. All times are in UTC. Text lengths are counted in Unicode code points. An optional query parameter with an empty value counts as absent. The server URL is the origin that serves this document.

Version 1 only gets backward-compatible additions: operations, optional parameters and request headers, response fields and headers, enumeration values, error codes and types of events. Your app must accept them. Breaking changes are released as a new version. After that, version 1 remains available for 12 months, with the response headers Deprecation (RFC 9745), Sunset (RFC 8594) and Link with rel="deprecation"; then it returns 410. Security fixes can take effect immediately, even if they break compatibility, and are announced.

All endpoints under /dev/v1 support CORS for any origin and expose the response headers ${EXPOSED_HEADERS.join(', ')}. Requests authenticate with an access token; cookies are ignored.

Apps can receive events at an endpoint of their own, instead of polling: see the webhooks below. See the [developer guide](${publicUrl}${GUIDE_PATH}) and the [error codes](${publicUrl}/docs/errors), which include the OAuth errors.`;

/**
 * The published document, generated from the decorators and sorted for readable diffs.
 * @param config the settings of the instance. Without them, as in the committed file, URLs are relative, except in examples, and
 * `externalDocs` is missing.
 */
export function openApiDocument(app: NestExpressApplication, config?: AppConfig): OpenAPIObject {
  const publicUrl = config?.publicUrl ?? '';
  const supportUrl = config?.brand.supportUrl;
  const settings = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Developer API')
    .setDescription(description(publicUrl))
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(publicUrl || '/')
    .addTag('oauth', 'Authorization code flow and tokens (RFC 6749, RFC 7636)')
    .addTag('users', 'The user who authorized the app')
    .addTag('posts', "The user's own posts")
    .addTag('comments', "Comments on the user's posts")
    .addTag('analytics', 'Likes and comments per post')
    .addTag('quota', 'Monthly quota of the app')
    .addTag('requests', 'Requests that the app sent')
    .addTag('events', 'Requests to the endpoint of an app')
    .addOAuth2(
      {
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: `${publicUrl}/oauth/authorize`,
            tokenUrl: `${publicUrl}/oauth/token`,
            refreshUrl: `${publicUrl}/oauth/token`,
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
          'The client_id and client_secret of the app (RFC 6749 §2.3.1). They can be sent as form parameters instead. A public app sends only client_id, as a form parameter.',
      },
      CLIENT_SECURITY_SCHEME,
    )
    .build();
  settings.info.contact = {
    name: 'The operator of this instance',
    ...(supportUrl !== undefined && { url: supportUrl }),
  };
  // The URL must be absolute (OpenAPI 3.1 §4.8.11), unlike the others.
  if (config)
    settings.externalDocs = {
      description: 'Developer guide: authorization flow, client libraries, versioning',
      url: `${publicUrl}${GUIDE_PATH}`,
    };
  const document = SwaggerModule.createDocument(app, settings, { autoTagControllers: false });
  document.webhooks = webhooks();
  const described = sorted(describeResponses(document));
  if (!config) return described;
  return JSON.parse(withOwnOrigins(JSON.stringify(described), config)) as OpenAPIObject;
}

/** Replaces the origin of the examples in the document by those of the instance. */
export function withOwnOrigins(
  text: string,
  { publicUrl, siteUrl }: Pick<AppConfig, 'publicUrl' | 'siteUrl'>,
): string {
  return text
    .replaceAll(`${EXAMPLE_ORIGIN}/post/`, `${siteUrl}/post/`)
    .replaceAll(EXAMPLE_ORIGIN, publicUrl);
}

/** Sorts the paths and the schemas. */
function sorted(document: OpenAPIObject): OpenAPIObject {
  const { paths, components } = document;
  return {
    ...document,
    paths: sortedByKey(paths),
    components: { ...components, schemas: sortedByKey(components?.schemas ?? {}) },
  };
}

function sortedByKey<T>(entries: Record<string, T>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(entries).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}
