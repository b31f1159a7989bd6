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
