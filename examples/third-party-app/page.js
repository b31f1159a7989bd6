// @ts-check
// The pages of the example app. Nothing here concerns OAuth.

/** @type {Section} */
export const TEST_MODE = {
  heading: 'Test mode',
  lines: ['Sign in as a test member. Posts are marked as test posts.'],
};
/**
 * @param {string[]} modes `live`, `test` or both
 * @param {{ text: string, author: { name: string } }[]} newComments oldest first
 */
export function startPage(modes, newComments) {
  const lines = newComments.map(({ text, author }) => `${author.name}: ${text}`).toReversed();
  return {
    title: 'Example app',
    lead: 'Connect your account to show your profile and your newest posts here and to publish a post.',
    sections: [
      ...(modes.includes('live') ? [] : [TEST_MODE]),
      ...(lines.length > 0 ? [{ heading: 'New comments', lines }] : []),
    ],
    buttons: modes.map((mode) => {
      const isSwitch = mode === 'test' && modes.includes('live');
      return [isSwitch ? 'Connect in test mode' : 'Connect', `/start?mode=${mode}`];
    }),
  };
}

export const NOT_FOUND_PAGE = {
  title: 'Page not found',
  lead: 'This app has no page at this address.',
};
export const NO_REQUEST_PAGE = {
  title: 'Start again',
  lead: 'This browser has no pending request. Each request can be completed only once.',
};

/** The pages have only an inline style. The address of the result page contains the code, so no link sends it as a referrer. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

const STYLE = `
:root { color-scheme: light dark; --ground: #fafaf7; --text: #1c1b22; --muted: #57545f; --line: #d9d7de;
  --accent: #4a3aa7; --on-accent: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #17161c; --text: #efedf4; --muted: #b3afbd; --line: #3b3844;
    --accent: #b9aefc; --on-accent: #1d1640; }
}
* { box-sizing: border-box; }
body { max-width: 36rem; margin: 0 auto; padding: 2rem min(1rem, 5vw); background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0; font-size: 1rem; }
section { padding: 1rem 0; border-top: 1px solid var(--line); }
section:last-of-type { margin-bottom: 1rem; border-bottom: 1px solid var(--line); }
section p { margin: 0.25rem 0 0; }
.lead { margin: 0.5rem 0 1.5rem; color: var(--muted); }
.button { display: inline-block; margin: 0 0.5rem 0.5rem 0; padding: 0.75rem 1.5rem; border: 1px solid transparent; border-radius: 0.5rem;
  background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none; }
.button:hover { text-decoration: underline; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;

/**
 * Sends a page. Its buttons are links: text and address.
 * @typedef {{ heading: string, lines: string[], link?: string }} Section
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {{ title: string, lead: string, sections?: Section[], buttons?: string[][] }} content
 */
export function sendPage(response, status, content) {
  const { title, lead, sections = [], buttons = [['Start again', '/']] } = content;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} – Example app</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="lead">${escapeHtml(lead)}</p>
${sections.map(sectionHtml).join('\n')}
${buttons.map(buttonHtml).join('\n')}
</main>
</body>
</html>
`;
  response.writeHead(status, HEADERS).end(html);
}

/** @param {string[]} button */
function buttonHtml([text = '', href = '']) {
  return `<a class="button" href="${escapeHtml(href)}">${escapeHtml(text)}</a>`;
}

/** @param {Section} section */
function sectionHtml({ heading, lines, link }) {
  const paragraphs = lines.map((line) => `<p dir="auto">${escapeHtml(line)}</p>`);
  if (link) paragraphs.push(`<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`);
  return `<section>\n<h2>${escapeHtml(heading)}</h2>\n${paragraphs.join('\n')}\n</section>`;
}

/**
 * Makes a value safe in text and in double-quoted attributes.
 * @param {string} text
 */
function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
