import { readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import typescript from 'highlight.js/lib/languages/typescript';
import { Marked, type Token, type Tokens } from 'marked';
import { type GuidePage, guidePath, OVERVIEW } from '../src/docs/served-files.js';

/** The pages in the order of the navigation. */
export const PAGES = [
  { slug: OVERVIEW, file: 'docs/guide/README.md' },
  { slug: 'get-started', file: 'docs/guide/get-started.md' },
  { slug: 'authorization', file: 'docs/guide/authorization.md' },
  { slug: 'tokens', file: 'docs/guide/tokens.md' },
  { slug: 'calling-the-api', file: 'docs/guide/calling-the-api.md' },
  { slug: 'posting-safely', file: 'docs/guide/posting-safely.md' },
  { slug: 'when-the-network-misbehaves', file: 'docs/guide/when-the-network-misbehaves.md' },
  { slug: 'lists', file: 'docs/guide/lists.md' },
  { slug: 'events', file: 'docs/guide/events.md' },
  { slug: 'errors', file: 'docs/guide/errors.md' },
  { slug: 'test-your-integration', file: 'docs/guide/test-your-integration.md' },
  { slug: 'sign-in-with', file: 'docs/guide/sign-in-with.md' },
  { slug: 'libraries', file: 'docs/guide/libraries.md' },
  { slug: 'recipes', file: 'docs/guide/recipes.md' },
  { slug: 'typescript-client', file: 'clients/typescript/README.md' },
  { slug: 'mcp-server', file: 'examples/mcp-server/README.md' },
  { slug: 'changes', file: 'docs/guide/changes.md' },
  { slug: 'changelog', file: 'CHANGELOG.md' },
];

/** Other files of the repository that the service serves. */
const SERVED_FILES = new Map([['openapi/openapi.json', '/openapi.json']]);

/** Paths of the service that become links where the text names one as code. On GitHub they stay code. */
const SERVED_PATHS =
  /^\/(docs(\/errors(\.md)?|\/api\.md|\/guide|\/postman(-environment)?\.json|\/client\.tgz|\/changelog\.atom)?(#[\w-]+)?|openapi\.json|llms\.txt|account\/apps)$/;

const LANGUAGES = { bash, go, http, json, php, python, ruby, typescript };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
// TypeScript contains JavaScript.
hljs.registerAliases('js', { languageName: 'typescript' });

/** The names of tabs, by the language of the code block. */
const TABS = new Map([
  ['sh', 'curl'],
  ['ts', 'TypeScript'],
  ['python', 'Python'],
  ['php', 'PHP'],
  ['go', 'Go'],
  ['ruby', 'Ruby'],
]);

/** Renders the pages. The working directory is the root of the repository. */
export function renderGuide(): Promise<GuidePage[]> {
  const slugs = new Map(PAGES.map(({ slug, file }) => [file, slug]));
  return Promise.all(
    PAGES.map(async ({ slug, file }) =>
      renderPage(await readFile(file, 'utf8'), slug, file, slugs),
    ),
  );
}

/** @param slugs the slugs of all pages by their file */
function renderPage(
  text: string,
  slug: string,
  file: string,
  slugs: ReadonlyMap<string, string>,
): GuidePage {
  const resolve = (href: string, toPage: (slug: string) => string): string => {
    const [path = '', fragment] = href.split('#');
    if (path === '' || /^[a-z]+:|^\//.test(path)) return href;
    const target = normalize(join(dirname(file), path));
    const linked = slugs.get(target);
    const resolved = linked === undefined ? SERVED_FILES.get(target) : toPage(linked);
    return (resolved ?? path) + (fragment === undefined ? '' : `#${fragment}`);
  };
  const slugger = new GithubSlugger();
  const contents: { id: string; text: string }[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const plain = plainText(tokens);
        const id = slugger.slug(plain);
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        if (depth === 2) contents.push({ id, text: plain });
        if (heading.includes(']('))
          throw new Error(`${file}: a heading contains a link: ${heading}`);
        return `<h${depth} id="${id}"><a href="#${id}">${inner}</a></h${depth}>\n`;
      },
      link({ href, title, tokens }) {
        const url = escape(resolve(href, guidePath));
        const tooltip = title ? ` title="${escape(title)}"` : '';
        return `<a href="${url}"${tooltip}>${this.parser.parseInline(tokens)}</a>`;
      },
      codespan({ text: code }) {
        const html = `<code>${escape(code)}</code>`;
        return SERVED_PATHS.test(code) ? `<a href="${code}">${html}</a>` : html;
      },
      code: codeBlock,
      table({ header, rows }) {
        const head = header.map(
          (cell) => `<th scope="col">${this.parser.parseInline(cell.tokens)}</th>`,
        );
        const titles = header.map((cell) => escape(plainText(cell.tokens)));
        const body = rows.map((row) => {
          const cells = row.map(
            (cell, column) =>
              `<td data-label="${titles[column]}">${this.parser.parseInline(cell.tokens)}</td>`,
          );
          return `<tr>${cells.join('')}</tr>\n`;
        });
        return `<table>\n<thead><tr>${head.join('')}</tr></thead>\n<tbody>\n${body.join('')}</tbody>\n</table>\n`;
      },
    },
  });
  const tokens = marked.lexer(text);
  const heading = tokens.find((token): token is Tokens.Heading => token.type === 'heading');
  const paragraph = tokens.find((token): token is Tokens.Paragraph => token.type === 'paragraph');
  if (heading?.depth !== 1 || !paragraph) throw new Error(`${file} does not begin with a title.`);
  const html = withTabs(tokens).map((part, index) =>
    Array.isArray(part) ? tabs(part, `tabs-${index}`) : marked.parser([part]),
  );
  return {
    slug,
    title: plainText(heading.tokens),
    description: plainText(paragraph.tokens ?? []),
    contents,
    html: html.join(''),
    markdown: text.replaceAll(
      /\]\(([^()\s]+)\)/g,
      (_link, href: string) => `](${resolve(href, (linked) => `${linked}.md`)})`,
    ),
  };
}

/**
 * Groups consecutive code blocks that are marked with `flow` and have different languages: GitHub shows one below the other, and the
 * site shows them as tabs.
 */
function withTabs(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const parts: (Token | Tokens.Code[])[] = [];
  for (const token of tokens) {
    if (token.type === 'space') continue;
    const last = parts.at(-1);
    if (!isSample(token)) parts.push(token);
    else if (Array.isArray(last) && !last.some(({ lang }) => lang === token.lang)) last.push(token);
    else parts.push([token]);
  }
  return parts;
}

function isSample(token: Token): token is Tokens.Code {
  return token.type === 'code' && /^\w+ flow$/.test((token as Tokens.Code).lang ?? '');
}

/** Radio buttons, which select a tab without a script. */
function tabs(samples: readonly Tokens.Code[], name: string): string {
  const [first] = samples;
  if (samples.length === 1 && first) return codeBlock(first);
  const parts = samples.map((sample, index) => {
    const language = languageOf(sample);
    const id = `${name}-${language}`;
    const state = index === 0 ? ' checked' : '';
    return `<input type="radio" name="${name}" id="${id}" value="${language}"${state}><label for="${id}">${TABS.get(language) ?? language}</label>${codeBlock(sample)}`;
  });
  return `<fieldset class="tabs"><legend class="visually-hidden">Language of the example</legend>${parts.join('')}</fieldset>\n`;
}

function codeBlock(token: Tokens.Code): string {
  const language = languageOf(token);
  const code = hljs.getLanguage(language)
    ? hljs.highlight(token.text, { language }).value
    : escape(token.text);
  return `<div class="sample"><pre><code>${code}</code></pre></div>\n`;
}

function languageOf({ lang }: Tokens.Code): string {
  return lang?.split(' ')[0] ?? '';
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      return 'text' in token ? String(token.text) : '';
    })
    .join('');
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character as keyof typeof ENTITIES]);
}
