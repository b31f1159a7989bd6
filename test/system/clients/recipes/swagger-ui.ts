// recipe:begin
import type { Settings } from './settings.js';

/** The script of Swagger UI defines this function. */
declare const SwaggerUIBundle: (options: object) => { initOAuth(options: object): void };

type Options = Settings & { document: object };

/** `document` is a copy of our `/openapi.json`. The redirect URI is the URL of Swagger UI's `oauth2-redirect.html`. */
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
