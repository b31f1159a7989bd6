/** A character, a class, an assertion or a group. */
interface Part {
  /** Source with the quantifier. */
  source: string;
  /** Source without the quantifier. */
  body: string;
  /** The alternatives of a group or lookaround; else empty. */
  alternatives: Part[][];
  kind: 'consumed' | 'lookaround' | 'anchor';
  min: number;
  /** Whether the quantifier has no bound, or a large one. */
  isUnbounded: boolean;
}

/** A part with an unbounded quantifier, and prefixes that reach it. */
export interface Repetition {
  /** The pattern up to and including the part. */
  source: string;
  /** Prefixes that reach the part, those with the fewest choices first; empty if none is known. */
  before: string[];
  /** The repeated text: matching characters, or texts that a group matches. */
  units: string[];
}

/** A quantifier with at least this bound counts as unbounded. */
const MANY = 10;
/** Number of matching characters to repeat, and to try in prefixes. */
const MAX_SAMPLES = 5;
const MAX_SAMPLES_PER_STEP = 2;
/** Number of prefixes to try, and to return. */
const MAX_TEXTS = 500;
const MAX_WAYS = 4;
/** Number of texts of a group that are combined in pairs. */
const MAX_PAIRED = 6;
const CODE_UNITS = 0x10000;
const COMMON = [...'aA1 -./"\\,:;=&%@_[](){}<>\t\n\u00e9'];
const TOKEN =
  /\\(?:[pPu]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|k<[^>]*>|.)|\[(?:\\.|[^\]\\])*\]|\(\?<?[=!]|\(\?:|\(\?<\w+>|[()|^$]|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu;
const QUANTIFIER = /^(?:[*+?]|\{\d)/;
const LOOKAROUND = /^\(\?<?[=!]/;
const ANCHOR = /^(?:[\^$]|\\[bB])$/;

/** The characters in the source of a pattern, including its operators, without escapes such as `\d`. */
export function charactersOf({ source }: Pick<RegExp, 'source'>): string[] {
  const named = source.replaceAll(/\\(?:[pPu]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[a-zA-Z\d])/gu, ' ');
  return [...new Set(named.replaceAll('\\', ''))];
}

/** Sequences of two or more letters and common separators in the source of a pattern. */
export function wordsOf({ source }: RegExp): string[] {
  const plain = source.replaceAll(/\\([^\w\s])/g, '$1');
  return [...new Set(plain.match(/[\w/:=;. -]{2,}/g) ?? [])];
}

/** The unbounded parts of a pattern, in all alternatives of all groups and lookarounds. */
export function repetitionsOf(pattern: RegExp): Repetition[] {
  const tokens = [...pattern.source.matchAll(TOKEN)].map(([token]) => token);
  return new Walk(pattern).through(alternativesIn(tokens), [''], '', '');
}

/** Finds prefixes that reach the parts of a pattern. */
class Walk {
  private readonly characters: readonly string[];
  private readonly flags: string;
  private readonly known = new Map<string, string[]>();

  constructor(pattern: RegExp) {
    this.characters = [...new Set([...charactersOf(pattern), ...COMMON])];
    this.flags = pattern.flags.replaceAll(/[gy]/g, '');
  }

  /** `before` has prefixes that reach these alternatives; `leading` and `trailing` are the pattern before and after them. */
  through(
    alternatives: Part[][],
    before: readonly string[],
    leading: string,
    trailing: string,
  ): Repetition[] {
    return alternatives.flatMap((parts) => {
      const choices: (readonly string[])[] = [before];
      return parts.flatMap((part, index) => {
        const texts = concatenations(choices);
        const start = leading + sourceOf(parts.slice(0, index));
        const end = sourceOf(parts.slice(index + 1)) + trailing;
        choices.push(this.textsOf(part));
        const found = this.through(part.alternatives, texts, start, end);
        return part.isUnbounded ? [...found, this.repetition(part, texts, start, end)] : found;
      });
    });
  }

  private repetition(
    part: Part,
    texts: readonly string[],
    leading: string,
    trailing: string,
  ): Repetition {
    const units = this.unitsOf(part, trailing);
    const source = leading + part.source;
    const whole = this.whole(source);
    const reachesPart = (text: string): boolean =>
      units.some((unit) => whole.test(text + unit.repeat(Math.max(part.min, 1))));
    return { source, before: texts.filter(reachesPart).slice(0, MAX_WAYS), units };
  }

  /** Characters of the following parts come first: patterns are slow where two adjacent parts match the same text. */
  private unitsOf(part: Part, trailing: string): string[] {
    if (part.alternatives.length === 0) {
      const fitting = this.samplesOf(part.body);
      const next = charactersOf({ source: trailing }).filter((one) => fitting.includes(one));
      return [...new Set([...next, ...fitting])].slice(0, MAX_SAMPLES);
    }
    const texts = this.onceOf(part).filter((text) => text !== '');
    const paired = texts.slice(0, MAX_PAIRED);
    return [...new Set([...texts, ...paired.flatMap((one) => paired.map((two) => one + two))])];
  }

  /** Short texts that a part matches, or that a lookaround requires. */
  private textsOf(part: Part): string[] {
    if (part.kind === 'anchor') return [''];
    const once = this.onceOf(part);
    const repeated = once.map((text) => text.repeat(Math.max(part.min, 1)));
    // Texts of lookarounds rarely help, so the second choice is empty, too.
    if (part.kind === 'lookaround') return ['', '', ...repeated];
    return part.min === 0 ? ['', ...repeated] : repeated;
  }

  /** Short texts that match the part without its quantifier. */
  private onceOf({ alternatives, body }: Part): string[] {
    if (alternatives.length === 0) return this.samplesOf(body).slice(0, MAX_SAMPLES_PER_STEP);
    return alternatives.flatMap((parts) => concatenations(parts.map((part) => this.textsOf(part))));
  }

  /** Matching characters, those of the pattern first. */
  private samplesOf(body: string): string[] {
    const known = this.known.get(body) ?? this.search(body);
    this.known.set(body, known);
    return known;
  }

  private search(body: string): string[] {
    const atom = this.whole(body);
    const fitting = this.characters.filter((character) => atom.test(character));
    for (let code = 0; fitting.length === 0 && code < CODE_UNITS; code += 1) {
      const character = String.fromCharCode(code);
      if (atom.test(character)) fitting.push(character);
    }
    return fitting;
  }

  /** Uses lookarounds because `^` and `$` may match at line breaks. */
  private whole(source: string): RegExp {
    return new RegExp(`(?<![^])(?:${source})(?![^])`, this.flags);
  }
}

/**
 * Concatenations of one text for each part, given all texts of each part: first the first text of every part, then the second text
 * of every part, then each other text among the first texts of the other parts, beginning with the texts of the last part.
 */
function concatenations(choices: readonly (readonly string[])[]): string[] {
  const first = choices.map(([text = '']) => text);
  const second = choices.map(([text = '', other = text]) => other);
  const others = choices.map((texts, index) =>
    texts.slice(1).map((text) => first.with(index, text)),
  );
  const texts = [first, second, ...others.toReversed().flat()].map((parts) => parts.join(''));
  return [...new Set(texts)].slice(0, MAX_TEXTS);
}

function sourceOf(parts: readonly Part[]): string {
  return parts.map(({ source }) => source).join('');
}

/** Consumes the tokens up to the end of the group or pattern. */
function alternativesIn(tokens: string[]): Part[][] {
  const alternatives: Part[][] = [[]];
  for (let token = tokens.shift(); token !== undefined && token !== ')'; token = tokens.shift()) {
    if (token === '|') alternatives.push([]);
    else alternatives.at(-1)?.push(partOf(token, tokens));
  }
  return alternatives;
}

function partOf(token: string, following: string[]): Part {
  const alternatives = token.startsWith('(') ? alternativesIn(following) : [];
  const inside = alternatives.map(sourceOf);
  const body = alternatives.length === 0 ? token : `${token}${inside.join('|')})`;
  const quantifier = QUANTIFIER.test(following[0] ?? '') ? (following.shift() ?? '') : '';
  const kind = LOOKAROUND.test(token) ? 'lookaround' : ANCHOR.test(token) ? 'anchor' : 'consumed';
  return { source: body + quantifier, body, alternatives, kind, ...timesOf(quantifier) };
}

function timesOf(quantifier: string): Pick<Part, 'min' | 'isUnbounded'> {
  const [, min, comma, max] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (min !== undefined) {
    const bound = comma === '' ? Number(min) : max === '' ? Infinity : Number(max);
    return { min: Number(min), isUnbounded: bound >= MANY };
  }
  if (quantifier.startsWith('*')) return { min: 0, isUnbounded: true };
  if (quantifier.startsWith('+')) return { min: 1, isUnbounded: true };
  return { min: quantifier.startsWith('?') ? 0 : 1, isUnbounded: false };
}
