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

/** The folder of the same files, compressed at build time: the path below `dist`. */
export const COMPRESSED_FILES = 'docs/compressed';

/** The Postman files, which `tools/postman.ts` generates at build time: the paths below `dist` and of the service. */
export const POSTMAN_COLLECTION = 'docs/postman.json';
export const POSTMAN_ENVIRONMENT = 'docs/postman-environment.json';

/** Stands for the origin of the service in these files. */
export const ORIGIN_PLACEHOLDER = new URL('https://instance.invalid');

/** The TypeScript client as npm installs it. `tools/client-package.ts` packs it at build time. The path below `dist` and of the service. */
export const CLIENT_PACKAGE = 'docs/client.tgz';

/** A page of the guide, which `tools/guide.ts` renders at build time. */
export interface GuidePage {
  /** The last part of its path, such as `errors`. */
  slug: string;
  title: string;
  /** The first paragraph, as plain text. */
  description: string;
  /** The headings of the second level. */
  contents: readonly { id: string; text: string }[];
  html: string;
  markdown: string;
}

/** The path of the overview. The other pages are below it. */
export const GUIDE_PATH = '/docs/guide';

/** The slug of the overview. GitHub shows a file of this name with its folder. */
export const OVERVIEW = 'README';

export function guidePath(slug: string): string {
  return slug === OVERVIEW ? GUIDE_PATH : `${GUIDE_PATH}/${slug}`;
}

/** The path of a page as Markdown. */
export function markdownPath(slug: string): string {
  return `${GUIDE_PATH}/${slug}.md`;
}

/** The reference of the API and the error codes as Markdown. */
export const REFERENCE_MARKDOWN = '/docs/api.md';
export const ERRORS_MARKDOWN = '/docs/errors.md';

/** The media type of Markdown (RFC 7763). */
export const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';

/** The rendered pages, which `npm run build` writes. */
export const RENDERED_GUIDE = 'docs/guide.json';
