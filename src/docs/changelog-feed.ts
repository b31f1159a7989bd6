import { toHtml } from '../pages/translations/markup.js';
import { type GuidePage, guidePath } from './served-files.js';

export const CHANGELOG = 'changelog';
export const FEED_PATH = '/docs/changelog.atom';

/** The heading of a release in the rendered changelog: id, version and date. */
const RELEASE = /<h2 id="([\w-]+)"><a [^>]*>(\d+\.\d+\.\d+) – (\d{4}-\d\d-\d\d)<\/a><\/h2>\n/;
/** Number of capturing groups of `RELEASE`, and the text that follows. */
const PARTS = 4;

/**
 * The releases of the changelog as a feed (RFC 4287), newest first.
 * @param page the rendered changelog
 * @param publicUrl the origin of the links
 */
export function changelogFeed({ title, html }: GuidePage, publicUrl: string): string {
  const url = publicUrl + guidePath(CHANGELOG);
  const [, ...parts] = html.split(RELEASE);
  const entries = Array.from({ length: parts.length / PARTS }, (_, index) => {
    const [id, version, date, content = ''] = parts.slice(index * PARTS);
    return { link: `${url}#${id}`, version, updated: `${date}T00:00:00Z`, content };
  });
  const xml = entries.map(
    ({ link, version, updated, content }) => `  <entry>
    <id>${link}</id>
    <title>Developer API ${version}</title>
    <updated>${updated}</updated>
    <link href="${link}"/>
    <content type="html">${toHtml(content)}</content>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${url}</id>
  <title>Developer API: ${toHtml(title)}</title>
  <updated>${entries[0]?.updated}</updated>
  <author><name>Developer API</name></author>
  <link href="${url}"/>
  <link rel="self" type="application/atom+xml" href="${publicUrl}${FEED_PATH}"/>
${xml.join('')}</feed>
`;
}
