/** The files of `swagger-ui-dist` that the service serves at `/docs`. The image contains no others. */
export const SWAGGER_UI_FILES = [
  'oauth2-redirect.html',
  'oauth2-redirect.js',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui-standalone-preset.js',
  'swagger-ui-standalone-preset.js.LICENSE.txt',
] as const;

/** The Postman files, which `tools/postman.ts` generates at build time: the paths below `dist` and of the service. */
export const POSTMAN_COLLECTION = 'docs/postman.json';
export const POSTMAN_ENVIRONMENT = 'docs/postman-environment.json';

/** Stands for the origin of the service in these files. */
export const ORIGIN_PLACEHOLDER = new URL('https://instance.invalid');

/** The TypeScript client as npm installs it. `tools/client-package.ts` packs it at build time. The path below `dist` and of the service. */
export const CLIENT_PACKAGE = 'docs/client.tgz';
