// recipe:begin
import type { Settings } from './settings.js';

/** What the script of Swagger UI brings to the page. */
declare const SwaggerUIBundle: (options: object) => { initOAuth(options: object): void };

type Shown = Settings & { document: object };

/** `document` is our `/openapi.json`, from your server. The redirect URI leads to Swagger UI's `oauth2-redirect.html`. */
export function showApi({ issuer, clientId, redirectUri, document }: Shown) {
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
