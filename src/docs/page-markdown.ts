/** The elements of `errors.eta`, and their Markdown. In this order. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/^.*<main[^>]*>|<\/main>.*$/gs, ''],
  // Links within the page, and buttons.
  [/<(ul|p) class="(?:bullets|kicker|row)">.*?<\/\1>/gs, ''],
  [/<a href="#[^"]*">(.*?)<\/a>/gs, '$1'],
  [/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs, '[$2]($1)'],
  [/<pre><code>(.*?)<\/code><\/pre>/gs, '\n```json\n$1\n```\n'],
  [/<\/?code>/g, '`'],
  [/<h1[^>]*>/g, '\n# '],
  [/<h2[^>]*>/g, '\n## '],
  [/<h3[^>]*>/g, '\n### '],
  [/<p[^>]*>|<table>/g, '\n'],
  [/<\/thead>/g, '\n| --- | --- |'],
  [/<tr[^>]*>/g, '| '],
  [/<\/th><t[dh][^>]*>/g, ' | '],
  [/<\/t[dh]><\/tr>/g, ' |'],
  [/<[^>]+>/g, ''],
  [/(\|)\n+(?=\|)/g, '$1\n'],
  [/\n{3,}/g, '\n\n'],
  // Otherwise, Markdown would take the word after it for an element.
  [/&lt;/g, String.raw`\<`],
  [/&gt;/g, '>'],
  [/&quot;/g, '"'],
  [/&#39;/g, "'"],
  [/&amp;/g, '&'],
];

/** The main part of a page of ours as Markdown. */
export function markdownOf(html: string): string {
  const text = REPLACEMENTS.reduce(
    (rest, [element, markdown]) => rest.replaceAll(element, markdown),
    html,
  );
  return `${text.trim()}\n`;
}
