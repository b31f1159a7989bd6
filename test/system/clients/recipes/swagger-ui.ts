// recipe:begin
import type { Settings } from './settings.js';

/** Global of the script of Swagger UI. */
declare const SwaggerUIBundle: (options: object) => { initOAuth(options: object): void };

type Options = Settings & { document: object };

/** `document` is a copy of our `/openapi.json`. `redirectUri` is the URL of Swagger UI's `oauth2-redirect.html`. */
export function showApi({ issuer, clientId, redirectUri, document }: Options) {
  const ui = SwaggerUIBundle({
    dom_id: '#swagger-ui',
    spec: { ...document, servers: [{ url: issuer }] },
    oauth2RedirectUrl: redirectUri,
    tryItOutEnabled: true,
  });
  ui.initOAuth({
    clientId,
    usePkceWithAuthorizationCodeGrant: true,
    scopes: ['profile.read', 'posts.read'],
  });
}
// recipe:end
