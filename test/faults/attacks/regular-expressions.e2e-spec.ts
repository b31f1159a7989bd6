import { readdir, readFile } from 'node:fs/promises';
import ts from 'typescript';
import { publishedDocument } from '../../support/published-document.js';

/** Slow patterns that clients cannot reach, with their input. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  '[/?#]+$': "the operator's own addresses",
  [String.raw`\n\s+at `]: 'the message of an error, for "doctor"',
  '<[^>]+>': 'a page of the documentation',
  [String.raw`\S*(?:\bwa\.me\/|\bwhatsapp\S*[?&]phone=)(?:\+|%2b)?(?=\d)`]:
    'a phone number of at most 250 characters',
};
/** Small steps first: an exponential pattern would block the process at a longer text. */
const LENGTHS = [24, 30, 36, 48, 1000, 10_000];
const LIMIT_MS = 30;
const ATTEMPTS = 3;
const COMMON = [...'aA1 -./"\\,:;=&%@_[](){}<>\t\n\u00e9'];

async function patternsInSource(): Promise<RegExp[]> {
  const found: RegExp[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.push(new RegExp(node.text.slice(1, end), node.text.slice(end + 1)));
    }
    ts.forEachChild(node, visit);
  };
  const files = await readdir('src', { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts')))
    visit(ts.createSourceFile(file, await readFile(`src/${file}`, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

/** The patterns of the published document. JSON Schema requires the u flag. */
function publishedPatterns(): RegExp[] {
  const text = JSON.stringify(publishedDocument());
  return [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, pattern = '']) => new RegExp(JSON.parse(pattern) as string, 'u'),
  );
}

/** Whether a repeated character of the pattern, or a word in it, takes too long, even at the fastest attempt. */
function isSlow(pattern: RegExp): boolean {
  const words = pattern.source.match(/[\w/:=;. -]{2,}/g) ?? [];
  const units = new Set([...pattern.source, ...words, ...COMMON]);
  return LENGTHS.some((length) =>
    [...units].some((unit) => {
      const text = `${unit.repeat(length / unit.length)}\0`;
      return Array.from({ length: ATTEMPTS }).every(() => {
        const startedAt = performance.now();
        text.search(pattern);
        return performance.now() - startedAt > LIMIT_MS;
      });
    }),
  );
}

describe('Regular expressions (CWE-1333)', () => {
  it.each([/^(a+)+$/, /^(a|aa)+$/, /^(\w+\s?)*$/, /\s+$/])('are slow such as %s', (pattern) => {
    expect(isSlow(pattern)).toBe(true);
  });

  it('are fast for long texts, unless clients cannot reach them', async () => {
    const patterns = [...(await patternsInSource()), ...publishedPatterns()];
    expect(patterns.length).toBeGreaterThan(100);
    const slow = patterns.filter(isSlow).map(({ source }) => source);
    expect([...new Set(slow)].toSorted()).toEqual(Object.keys(UNREACHABLE).toSorted());
  });
});
