import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { charactersOf, repetitionsOf, wordsOf } from './pattern-parts.js';

/** A regular expression, and where it stands. */
export interface Literal {
  /** File and line. */
  place: string;
  pattern: RegExp;
}

/** The longest that a pattern took for a text, and for how many characters. */
export interface Measured {
  milliseconds: number;
  length: number;
}

export const LIMIT_MS = 50;
export const LONGEST = 100_000;
const SHORTEST = 8;
/** Steps are small at first: what is exponential takes too long at one of them, and would take for ever a few further on. */
const SHORT = 48;
const SMALL_STEP = 2;
const STEP = 1.5;
const TRIES = 4;
const NOTABLE_MS = 2;
/** What a pattern may not expect at the end. */
const SPOILERS = ['\0', '/\n'];
const MORE_SPOILERS = ['\n', '\u{1F3E1}'];

/** Every regular expression literal of the program, without those of its tests. */
export async function literalsIn(folder: string): Promise<Literal[]> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  const found = await Promise.all(
    files.toSorted().map(async (name) => {
      const file = join(folder, name);
      return literalsOf(
        ts.createSourceFile(file, await readFile(file, 'utf8'), ts.ScriptTarget.Latest),
      );
    }),
  );
  return found.flat();
}

/** Texts of any length that a pattern may have to look at again and again. */
export function attacksOn(pattern: RegExp, isThorough: boolean): ((length: number) => string)[] {
  const characters = charactersOf(pattern);
  const pairs = characters.flatMap((one) =>
    characters.filter((other) => other !== one).map((other) => one + other),
  );
  const units = [...characters, ...wordsOf(pattern), ...(isThorough ? pairs : [])];
  const repetitions = [...repetitionsOf(pattern), ...units.map((unit) => ({ before: '', unit }))];
  const spoilers = isThorough ? [...SPOILERS, ...MORE_SPOILERS] : SPOILERS;
  return repetitions.flatMap(({ before, unit }) =>
    spoilers.map(
      (spoiler) => (length: number) =>
        before + unit.repeat(Math.ceil(length / unit.length)) + spoiler,
    ),
  );
}

/** Lets the text grow until it is as long as any, or the pattern takes too long. */
export function measure(pattern: RegExp, attack: (length: number) => string): Measured {
  for (let length = SHORTEST; ; length = nextLength(length)) {
    const milliseconds = leastTime(pattern, attack(length));
    if (milliseconds > LIMIT_MS || length === LONGEST) return { milliseconds, length };
  }
}

function nextLength(length: number): number {
  return length < SHORT ? length + SMALL_STEP : Math.min(LONGEST, Math.ceil(length * STEP));
}

/** Of several tries where the first took long, since the machine may have been busy with something else. */
function leastTime(pattern: RegExp, text: string): number {
  let least = Infinity;
  for (let tried = 0; tried < TRIES && least > NOTABLE_MS; tried += 1) {
    const begun = performance.now();
    text.search(pattern);
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}

function literalsOf(source: ts.SourceFile): Literal[] {
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      const end = node.text.lastIndexOf('/');
      const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      found.push({ place: `${source.fileName}:${line + 1}`, pattern });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
