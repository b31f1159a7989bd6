/** A character or class of a pattern, and how often it may come in a row. */
interface Atom {
  source: string;
  least: number;
  /** Whether there is no bound, or one that lets an attacker write much. */
  isEndless: boolean;
}

/** Something that may be repeated without end, and what has to come before it. */
export interface Repetition {
  before: string;
  /** What is repeated: a character that fits, or a run of them that a group takes. */
  unit: string;
}

const MANY = 100;
/** So many characters that fit a class are tried. */
const MOST_SAMPLES = 5;
const COMMON = [...'aA1 -./"\\,:;=&%@_[](){}<>\t\n\u00e9'];
const TOKEN =
  /\\(?:[pPu]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|k<[^>]*>|.)|\[(?:\\.|[^\]\\])*\]|\(\?<?[=!]|\(\?:|\(\?<\w+>|[()|^$]|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu;

/** The literal characters of a pattern. */
export function charactersOf({ source }: RegExp): string[] {
  const named = source.replaceAll(/\\(?:[pPu]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[a-zA-Z\d])/gu, ' ');
  return [...new Set(named.replaceAll('\\', ''))];
}

/** The words that a pattern spells out. */
export function wordsOf({ source }: RegExp): string[] {
  const plain = source.replaceAll(/\\([^\w\s])/g, '$1');
  return [...new Set(plain.match(/[\w/:=;. -]{2,}/g) ?? [])];
}

/**
 * What of a pattern may be repeated, each with the shortest text that leads there: alternatives but the first of a group, and
 * what is only looked at, are left out.
 */
export function repetitionsOf(pattern: RegExp): Repetition[] {
  const found: Repetition[] = [];
  const path: Atom[] = [];
  const groups: number[] = [];
  const tokens = [...pattern.source.matchAll(TOKEN)].map(([token]) => token);
  const sample = (atom: Atom): string => samplesOf(pattern, atom.source)[0] ?? '';
  const textOf = (atoms: readonly Atom[]): string =>
    atoms.map((atom) => sample(atom).repeat(Math.max(atom.least, 0))).join('');
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (/^\(\?<?[=!]/.test(token)) at = endOf(tokens, at);
    else if (token.startsWith('(')) groups.push(path.length);
    else if (token === '|') {
      if (groups.length === 0) return found;
      at = endOf(tokens, at, 1) - 1;
    } else if (token === ')') {
      const begin = groups.pop() ?? 0;
      const { least, isEndless } = timesOf(tokens[at + 1]);
      const group = path.slice(begin);
      const once = group.map((atom) => ({ ...atom, least: Math.max(atom.least, 1) }));
      if (isEndless) {
        const before = textOf(path.slice(0, begin));
        for (const unit of new Set([textOf(group), textOf(once)])) found.push({ before, unit });
      }
      if (least === 0) path.length = begin;
    } else if (!/^([*+?^$]|\{\d)/.test(token) && token !== '\\b' && token !== '\\B') {
      const atom = { source: token, ...timesOf(tokens[at + 1]) };
      if (atom.isEndless)
        for (const unit of samplesOf(pattern, token)) found.push({ before: textOf(path), unit });
      path.push(atom);
    }
  }
  return found.filter(({ unit }) => unit !== '');
}

/** Characters that an atom takes, those of the pattern itself first: what two parts both take makes a pattern slow. */
function samplesOf(pattern: RegExp, source: string): string[] {
  const flags = pattern.flags.replaceAll(/[gmy]/g, '');
  const atom = new RegExp(`^(?:${source})$`, flags);
  const characters = [...new Set([...charactersOf(pattern), ...COMMON])];
  return characters.filter((character) => atom.test(character)).slice(0, MOST_SAMPLES);
}

function timesOf(quantifier = ''): Pick<Atom, 'least' | 'isEndless'> {
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (least !== undefined) {
    const bound = comma === '' ? Number(least) : most === '' ? Infinity : Number(most);
    return { least: Number(least), isEndless: bound >= MANY };
  }
  if (quantifier.startsWith('*')) return { least: 0, isEndless: true };
  if (quantifier.startsWith('+')) return { least: 1, isEndless: true };
  return { least: quantifier.startsWith('?') ? 0 : 1, isEndless: false };
}

/** The place of the parenthesis that ends the group which begins at `from`, or `open` groups around it. */
function endOf(tokens: readonly string[], from: number, open = 0): number {
  let depth = open;
  for (let at = from; at < tokens.length; at += 1) {
    if (tokens[at]?.startsWith('(')) depth += 1;
    if (tokens[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}
