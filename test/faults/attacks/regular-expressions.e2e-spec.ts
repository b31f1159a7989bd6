import { pathToRegexp } from 'path-to-regexp';
import { idPattern } from '../../../src/platform/ids.js';
import { AllowedMethods } from '../../../src/platform/http/server/unrouted-requests.js';
import { REQUEST_ID_PATTERN } from '../../../src/platform/http/http-request-context.js';
import { sqliteFile } from '../../support/database.js';
import { publishedDocument } from '../../support/published-document.js';
import { type TestApp, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK } from '../../suite.js';
import { repetitionsOf } from './pattern-parts.js';
import { routesOf } from './undocumented-paths.js';
import {
  attacksOn,
  LIMIT_MS,
  type LocatedPattern,
  literalsOf,
  MAX_LENGTH,
  patternCreationsIn,
  measure,
  sourceOf,
  sourcesIn,
} from './slow-patterns.js';

/** Slow patterns that attackers cannot reach, by file and source, with their input. */
const SLOW_UNREACHABLE: Readonly<Record<string, string>> = {
  [String.raw`tools/breaking-changes.ts: \/requestBody\/.*\/properties\/`]:
    'a path in our own published document',
  [String.raw`tools/new-migration.ts: (import [^\n]+\n)(?!import)`]: 'a migration of our own',
  [String.raw`src/platform/config/env.ts: \d+(?=,|$)`]: "the operator's own QUOTA_PLANS",
  'src/platform/config/env.ts: [/?#]+$': "the operator's own addresses",
  [String.raw`src/modules/operations/doctor/check.ts: \n\s+at `]:
    'the message of an error, for "doctor"',
};

/** Code that creates a pattern at run time, with its patterns. */
const CREATED_PATTERNS: Readonly<Record<string, (app: TestApp) => readonly RegExp[]>> = {
  'src/platform/ids.ts: new RegExp(`^${prefix}_${SUFFIX}$`)': () => [idPattern('svc_app')],
  'src/platform/http/server/unrouted-requests.ts: pathToRegexp(path, { sensitive: true, trailing: false })':
    patternsOfRoutes,
  'src/platform/http/http-request-context.ts: new RegExp(REQUEST_ID_PATTERN)': () => [
    new RegExp(REQUEST_ID_PATTERN),
  ],
};

/** Code whose patterns this test cannot get, with their input. */
const UNCHECKED: Readonly<Record<string, string>> = {
  "src/platform/database/database-status.ts: new RegExp(`^${source}$`, 'su')":
    "from a grant of the operator's own database server, applied to the name of the operator's own database",
};

/** The distinct patterns of the published document. JSON Schema requires the u flag. */
function publishedIn(document: unknown): LocatedPattern[] {
  const patterns = new Set<string>();
  JSON.stringify(document, (name, value: unknown) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });
  return [...patterns].map((pattern) => ({
    place: `openapi/openapi.json: ${pattern}`,
    pattern: new RegExp(pattern, 'u'),
  }));
}

/** The patterns of `AllowedMethods`, which it creates at the first call, and those of the Express router. */
function patternsOfRoutes(app: TestApp): RegExp[] {
  const allowed = app.nest.get(AllowedMethods);
  allowed.of('/');
  const resources = allowed['resources'] ?? [];
  expect(resources).not.toHaveLength(0);
  const paths = new Set(routesOf(app.nest).map(({ path }) => path));
  return [
    ...resources.map(({ pattern }) => pattern),
    ...[...paths].map((path) => pathToRegexp(path).regexp),
  ];
}

/** The distinct patterns that code creates at run time. */
function createdPatternsOf(app: TestApp): LocatedPattern[] {
  const found = Object.entries(CREATED_PATTERNS).flatMap(([place, patterns]) =>
    patterns(app).map((pattern) => ({ place: `${place}: ${pattern}`, pattern })),
  );
  return [...new Map(found.map((literal) => [literal.place, literal])).values()];
}

/** The longest time of an attack, up to the first that takes too long, and the number of attacks on the pattern. */
function slowestAttack(pattern: RegExp): { milliseconds: number; attacks: number } {
  const attacks = attacksOn(pattern, { isThorough: !IS_QUICK });
  let slowest = 0;
  for (const attack of attacks) {
    slowest = Math.max(slowest, measure(pattern, attack).milliseconds);
    if (slowest > LIMIT_MS) break;
  }
  return { milliseconds: slowest, attacks: attacks.length };
}

describe('Regular expressions (CWE-1333)', () => {
  const app = useTestApp(sqliteFile());

  it.each([
    /^(a+)+$/,
    /^(a|aa)+$/,
    /\s+$/,
    /^(\w+\s?)*$/,
    /^[^@]+@(.*)*\.example$/,
    /^a.*b.*c.*d$/,
    /(?:x+x+)+y/,
    /^Bearer +(.* )*x$/,
    // After another alternative, at the top level and in groups.
    /^x$|^(\d+)+!/,
    /^(?:a|b(?:c|(d+)+))!$/,
    /^https?:\/\/(?:x|(?:[a-z]+)*)$/,
    /^(?:[[(]|<(?:v|w\.(?:\d|[k-m]{3}(?:\w+-?)*)))>$/,
    /^(?:z|(?:ab|c)?(?:d|e(\s*)*)f)$/,
    /^(?:q|r)(?:s|t){3}(?:[^a-z]+)+u$/,
    // A group whose alternatives are ambiguous only in sequence, and a lookaround.
    /^k(?:lm|n|l|mn)+!/,
    /^v(?=x|(?:\d+\d+)+;)/,
    /^v(?<=y|v)(?!(?:0|\d)+;)/,
    // With a large bound.
    /^=(?:[^=]{1,20}){1,20};$/,
    // The next part begins with a character that this part matches.
    /^w:\/[^/?#@]*,[^/?#@]*@$/,
    // Unanchored.
    /<script\s[^>]*>/,
    /(?:no|yes, )[a-z ]*\?/,
  ])('detects a slow pattern: %s', (pattern) => {
    expect(slowestAttack(pattern).milliseconds).toBeGreaterThan(LIMIT_MS);
  });

  it.each([
    /^x$|^\d+!/,
    /^(?:a|b(?:c|d+))!$/,
    /^https?:\/\/(?:x|(?:[a-z]+\.)*)$/,
    /^(?:q|r)(?:s|t){3}[^a-z]+u$/,
    /^k(?:lm|mn|no)+!/,
    /^v(?=x|\d+;)(?!(?:0|[1-9])+,)/,
    /^<script\s[^>]*>/,
  ])('accepts a fast pattern: %s', (pattern) => {
    expect(slowestAttack(pattern).milliseconds).toBeLessThan(LIMIT_MS);
  });

  it('reaches parts after every alternative', () => {
    const [, ...repetitions] = repetitionsOf(
      /^x*$|^(?:a|b(?:c|(?:d|ef)g*)|h(?=i*j)\w+)(?:k{2}|l\.m*)!/,
    );
    expect(repetitions.map(({ before: [text] }) => text)).toEqual(['bd', 'h', 'hj', 'al.']);
  });

  it(
    'in our code are fast for hostile texts, unless clients cannot reach them',
    { timeout: 300_000 },
    async ({ task }) => {
      const sources = [...(await sourcesIn('src')), ...(await sourcesIn('tools'))];
      const known = Object.keys({ ...CREATED_PATTERNS, ...UNCHECKED });
      expect(sources.flatMap(patternCreationsIn).toSorted()).toEqual(known.toSorted());
      const published = publishedIn(publishedDocument());
      expect(published.length).toBeGreaterThan(10);
      const own = [...sources.flatMap(literalsOf), ...createdPatternsOf(app())];
      const measured = new Set(own.map(({ pattern }) => pattern.source));
      const literals = [
        ...own,
        ...published.filter(({ pattern }) => !measured.has(pattern.source)),
      ];
      expect(literals.length).toBeGreaterThan(100);
      const unreached = literals.flatMap(({ place, pattern }) =>
        repetitionsOf(pattern)
          .filter(({ before }) => before.length === 0)
          .map(({ source }) => `${place}: ${source}`),
      );
      expect(unreached).toEqual([]);
      const slow = new Set<string>();
      let [slowest, milliseconds, attacks, slowCount] = ['', 0, 0, 0];
      for (const { place, pattern } of literals) {
        const result = slowestAttack(pattern);
        attacks += result.attacks;
        const [file = ''] = place.split(':');
        if (result.milliseconds > LIMIT_MS) {
          slowCount += 1;
          slow.add(`${file}: ${pattern.source}`);
        } else if (result.milliseconds > milliseconds)
          [slowest, milliseconds] = [place, result.milliseconds];
      }
      // A pattern that is no longer slow must leave the list.
      expect([...slow].toSorted()).toEqual(Object.keys(SLOW_UNREACHABLE).toSorted());
      reportFigure(
        task,
        `${literals.length - slowCount} regular expressions, ${attacks} hostile texts of up to ${MAX_LENGTH.toLocaleString('en')} characters, slowest ${milliseconds.toFixed(1)} ms at ${slowest.split(': ')[0]}; ${slowCount} slow ones never see client input, in ${slow.size} files`,
      );
    },
  );
});

describe('Detection of regular expressions created at run time', () => {
  it.each([
    ['new RegExp(text)', 'new RegExp(text)'],
    ["const is = RegExp('^a', 'u').test(text)", "RegExp('^a', 'u')"],
    ['const made = globalThis.RegExp(text);', 'globalThis.RegExp(text)'],
    ['const Maker = RegExp;', 'Maker = RegExp'],
    ["texts.map((text) => text.match('a|b'))", "text.match('a|b')"],
    ['text.matchAll(given)', 'text.matchAll(given)'],
    ['text.search(`${given}+`)', 'text.search(`${given}+`)'],
    ["import { match as of } from 'path-to-regexp'; of(path)(url);", 'of(path)'],
    ["import * as paths from 'path-to-regexp';\npaths.match(\n  path)", 'paths.match( path)'],
    ["await import('path-to-regexp')", "import('path-to-regexp')"],
    ["export { match } from 'path-to-regexp'", "export { match } from 'path-to-regexp'"],
  ])('finds %s', (text, creation) => {
    expect(patternCreationsIn(sourceOf('a.ts', text))).toEqual([`a.ts: ${creation}`]);
  });

  it.each([
    "import { match } from 'path-to-regexp';",
    'const pattern: RegExp = /a/; pattern instanceof RegExp;',
    'text.match(/a/), text.search(/a/g), trail.search({ since })',
    'class Matcher { match(text: string): boolean }',
  ])('ignores %s', (text) => {
    expect(patternCreationsIn(sourceOf('a.ts', text))).toEqual([]);
  });
});
