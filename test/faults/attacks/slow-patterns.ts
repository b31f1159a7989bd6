import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { charactersOf, repetitionsOf, wordsOf, type Repetition } from './pattern-parts.js';

/** A regular expression with its location. */
export interface LocatedPattern {
  /** The file, with the line or the source. */
  place: string;
  pattern: RegExp;
}

/** The time of a pattern for a text of this length. */
export interface Measured {
  milliseconds: number;
  length: number;
}

/** A prefix and the text that is repeated after it. */
interface Run {
  before: string;
  unit: string;
}

/** A text of any length that may cause backtracking. */
export interface Attack extends Run {
  /** An ending that prevents a match. */
  spoiler: string;
}

/** A pattern that takes longer is slow. */
export const LIMIT_MS = 20;
export const MAX_LENGTH = 30_000;
/** First number of repetitions. Small steps follow, because exponential patterns would never end after a large one. */
const MIN_REPETITIONS = 8;
const SMALL_STEP = 4;
const SMALL_STEPS_END = 48;
const MIDDLE_FACTOR = 1.5;
const MIDDLE_STEPS_END = 200;
const LARGE_FACTOR = 4;
const ATTEMPTS = 4;
/** An attempt that takes longer is repeated, because other load may have delayed it. */
const NOTABLE_MS = 2;
/** A repetition that takes longer is not repeated: other load cannot be the only cause. */
const CERTAIN_MS = 4 * LIMIT_MS;
/** Number of prefixes of a part in a quick run. */
const FEW_WAYS = 2;
const SPOILERS = ['\0', '/\n'];
const MORE_SPOILERS = ['\n', '\u{1F3E1}'];

export function attacksOn(pattern: RegExp, { isThorough }: { isThorough: boolean }): Attack[] {
  const repetitions = repetitionsOf(pattern);
  const characters = charactersOf(pattern);
  const pairs = characters.flatMap((one) =>
    characters.filter((other) => other !== one).map((other) => one + other),
  );
  const units = [...characters, ...wordsOf(pattern)];
  const ways = isThorough ? new Set(repetitions.flatMap(({ before }) => before.slice(0, 1))) : [];
  const runs = [
    ...repetitions.flatMap((repetition) => runsOf(repetition, isThorough)),
    ...['', ...ways].flatMap((before) => units.map((unit) => ({ before, unit }))),
    ...(isThorough && repetitions.length > 0 ? pairs : []).map((unit) => ({ before: '', unit })),
  ];
  const different = new Map(runs.map((run) => [JSON.stringify([run.before, run.unit]), run]));
  const spoilers = isThorough ? [...SPOILERS, ...MORE_SPOILERS] : SPOILERS;
  return [...different.values()].flatMap((run) => spoilers.map((spoiler) => ({ ...run, spoiler })));
}

/** Also repeats the prefix, because an unanchored pattern may start at each repetition. */
function runsOf({ before, units }: Repetition, isThorough: boolean): Run[] {
  return before.slice(0, isThorough ? before.length : FEW_WAYS).flatMap((way) =>
    units.flatMap((unit) => [
      { before: way, unit },
      { before: '', unit: way + unit },
    ]),
  );
}

/** Grows the text up to the maximum length, or until the pattern takes too long. */
export function measure(pattern: RegExp, { before, unit, spoiler }: Attack): Measured {
  const max = Math.ceil(MAX_LENGTH / unit.length);
  for (let times = MIN_REPETITIONS; ; times = Math.min(max, nextCount(times))) {
    const text = before + unit.repeat(times) + spoiler;
    const milliseconds = minTime(pattern, text);
    if (milliseconds > LIMIT_MS || times === max) return { milliseconds, length: text.length };
  }
}

function nextCount(times: number): number {
  if (times < SMALL_STEPS_END) return times + SMALL_STEP;
  return Math.ceil(times * (times < MIDDLE_STEPS_END ? MIDDLE_FACTOR : LARGE_FACTOR));
}

/**
 * The shortest time of several attempts if the first takes long. The repetitions count the smaller of wall time and CPU time, to
 * exclude other processes and threads.
 */
function minTime(pattern: RegExp, text: string): number {
  const startedAt = performance.now();
  text.search(pattern);
  let min = performance.now() - startedAt;
  for (let tried = 1; tried < ATTEMPTS && min > NOTABLE_MS; tried += 1) {
    const milliseconds = processorTime(pattern, text);
    min = Math.min(min, milliseconds);
    if (milliseconds > CERTAIN_MS) break;
  }
  return min;
}

function processorTime(pattern: RegExp, text: string): number {
  const startedAt = performance.now();
  const cpuAtStart = process.cpuUsage();
  text.search(pattern);
  const { user, system } = process.cpuUsage(cpuAtStart);
  return Math.min((user + system) / 1000, performance.now() - startedAt);
}

/** The source files without tests. */
export async function sourcesIn(folder: string): Promise<ts.SourceFile[]> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  return Promise.all(
    files
      .toSorted()
      .map((name) => join(folder, name))
      .map(async (file) => sourceOf(file, await readFile(file, 'utf8'))),
  );
}

export function sourceOf(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/** All regular expression literals. */
export function literalsOf(source: ts.SourceFile): LocatedPattern[] {
  return nodesOf(source)
    .filter(ts.isRegularExpressionLiteral)
    .map((node) => {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      const end = node.text.lastIndexOf('/');
      const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      return { place: `${source.fileName}:${line + 1}`, pattern };
    });
}

/** The package that compiles route paths to patterns. */
const PATH_TO_REGEXP = 'path-to-regexp';
const TEXT_METHODS = ['match', 'matchAll', 'search'];

/** All places that create a regular expression at run time: the file and the source of the expression. */
export function patternCreationsIn(source: ts.SourceFile): string[] {
  const nodes = nodesOf(source);
  const imported = nodes.filter(isImportOfPathToRegexp).flatMap(nodesOf).filter(ts.isIdentifier);
  const names = new Set(['RegExp', ...imported.map(({ text }) => text)]);
  const creations = new Set(nodes.filter((node) => createsPattern(node, names)).map(expressionOf));
  return [...creations].map(
    (node) => `${source.fileName}: ${node.getText().replaceAll(/\s+/g, ' ')}`,
  );
}

function createsPattern(node: ts.Node, names: ReadonlySet<string>): boolean {
  if (ts.isIdentifier(node)) return names.has(node.text) && !isOnlyNamed(node);
  if (ts.isStringLiteralLike(node))
    return node.text === PATH_TO_REGEXP && !isImportOfPathToRegexp(node.parent);
  return ts.isCallExpression(node) && compilesText(node);
}

/** Whether the name stands in an import, as a type or in `instanceof`. */
function isOnlyNamed({ parent }: ts.Identifier): boolean {
  return (
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isNamespaceImport(parent) ||
    ts.isTypeReferenceNode(parent) ||
    (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword)
  );
}

function isImportOfPathToRegexp(node: ts.Node): node is ts.ImportDeclaration {
  return (
    ts.isImportDeclaration(node) &&
    ts.isStringLiteral(node.moduleSpecifier) &&
    node.moduleSpecifier.text === PATH_TO_REGEXP
  );
}

/** The string methods compile an argument that is not a pattern. Methods of other classes get an object literal. */
function compilesText({ expression, arguments: [given] }: ts.CallExpression): boolean {
  return (
    ts.isPropertyAccessExpression(expression) &&
    TEXT_METHODS.includes(expression.name.text) &&
    given !== undefined &&
    !ts.isRegularExpressionLiteral(given) &&
    !ts.isObjectLiteralExpression(given)
  );
}

/** The call that contains a node; else the statement or declaration. */
function expressionOf(node: ts.Node): ts.Node {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) return node;
  return ts.isExpression(node.parent) ? expressionOf(node.parent) : node.parent;
}

function nodesOf(node: ts.Node): ts.Node[] {
  const found = [node];
  ts.forEachChild(node, (child) => {
    found.push(...nodesOf(child));
  });
  return found;
}
