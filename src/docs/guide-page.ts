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

/** The rendered pages, which `npm run build` writes. */
export const RENDERED_GUIDE = 'docs/guide.json';
