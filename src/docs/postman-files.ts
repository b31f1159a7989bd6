/** The Postman files, which `tools/postman.ts` generates at build time: the paths below `dist` and of the service. */
export const POSTMAN_COLLECTION = 'docs/postman.json';
export const POSTMAN_ENVIRONMENT = 'docs/postman-environment.json';

/** Stands for the origin of the service in these files. */
export const ORIGIN_PLACEHOLDER = new URL('https://instance.invalid');
