import { IS_QUICK } from '../../suite.js';

/** Single-line texts by the interpreter that they attack. */
const LINES = {
  html: [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    `' autofocus onfocus='alert(1)`,
    '</title></textarea></style><svg/onload=alert(1)>',
    '<!-- <![CDATA[ ]]>',
    '&lt;script&gt;&amp;&#39;&quot;',
    'javascript:alert(1)',
    '{{7*7}}${7*7}<%= 7*7 %><%~ it.body %>#{7*7}',
  ],
  sql: [
    `'; DROP TABLE posts; --`,
    `' OR '1'='1`,
    '" OR ""="',
    `\\' OR 1=1 #`,
    `x\\`,
    `%' UNION SELECT phone FROM users /*`,
    '? :id $1 @@version /*!50000 SELECT 1*/ `posts`',
  ],
  spreadsheet: [
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

/** All texts by the interpreter that they attack: the single-line ones, and texts with a tab or a line break. */
const GROUPS: readonly (readonly string[])[] = [
  LINES.html,
  LINES.sql,
  [...LINES.spreadsheet, '\t=1+1', '\r=1+1'],
  [...LINES.header, 'x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script>'],
  [...LINES.log, 'x\n{"level":"fatal","msg":"forged"}\n'],
  LINES.program,
];

export const HOSTILE_LINES: readonly string[] = Object.values(LINES).flat();
/** All texts, including `HOSTILE_LINES`. */
export const HOSTILE_TEXTS: readonly string[] = GROUPS.flat();

/**
 * The texts for the field with this index: every `oneIn`-th text of each group, at least one, and all texts by default. The selection
 * shifts from field to field. A quick run selects a single text.
 */
export function textsFor(fieldIndex: number, { oneIn = 1 } = {}): string[] {
  if (IS_QUICK)
    return HOSTILE_TEXTS.filter((_, index) => index === fieldIndex % HOSTILE_TEXTS.length);
  return GROUPS.flatMap((texts) => {
    const step = Math.min(oneIn, texts.length);
    return texts.filter((_, index) => (index + fieldIndex) % step === 0);
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

/** The text without the characters that a header value does not allow. */
export function printable(text: string): string {
  return text.replaceAll(/[^\t -~]/g, '');
}

/** Control characters of terminals (ECMA-48) except tab and line feed, and characters that change the direction of the text. */
export const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}]/u;
