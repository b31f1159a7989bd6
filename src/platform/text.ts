/** Characters that show nothing. The last one is the blank Braille pattern, which has no such property. */
const INVISIBLE = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Marks that texts from contacts and messages bring along, such as the direction of the text. */
const IGNORABLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** What `escapeInvisible` escapes. */
const UNPRINTABLE =
  /(?![\t\n]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** C0 controls and DEL, except tab, line feed and carriage return. */
const CONTROL = /(?![\t\n\r\u0080-\u009f])\p{Cc}/u;

/** Length in Unicode code points: the unit of every text limit, as in JSON Schema and MySQL's CHAR_LENGTH. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether the text has only white space, control and format characters, and letters without a glyph, such as the Hangul filler. */
export function isBlank(text: string): boolean {
  return text.replace(INVISIBLE, '') === '';
}

/** Whether the text has a C0 control or DEL, except tab, line feed and carriage return. C1 controls are allowed. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** The notation of the Unicode standard for the first code point, such as `U+202E`. */
export function codePointName(text: string): string {
  const hex = (text.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, '0')}`;
}

/**
 * Escapes characters that a terminal interprets or does not show as JSON does, such as `\u202e`: control characters except tab and
 * line feed, format characters, which can change the direction of the text, line separators, and letters without a glyph. Keeps
 * variation selectors, which many emoji contain. Valid JSON keeps its meaning.
 */
export function escapeInvisible(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/**
 * Simplifies a number that a person typed or pasted: digits of any script become ASCII, each dash `-`, and invisible marks are
 * removed.
 */
export function plainNumber(typed: string): string {
  return typed
    .normalize('NFKC')
    .replaceAll(IGNORABLE, '')
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/\p{Nd}/gu, asciiDigit)
    .trim();
}

/** Unicode assigns the digits of a script in a row, from zero to nine. */
function asciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((codePoint - zero) % 10);
}

/** One letter in three may be mistyped. */
const LETTERS_PER_MISTAKE = 3;

/**
 * The word that the user probably meant; undefined if none is near. Ignores case. Of equally near words, returns the first.
 * Takes O(typed.length * word.length) per word, so limit the length of `typed`.
 */
export function nearestWord(
  typed: string,
  words: readonly string[],
  lettersPerMistake = LETTERS_PER_MISTAKE,
): string | undefined {
  const candidates = words
    .map((word) => ({ word, mistakes: editDistance(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(
      ({ word, mistakes }) => mistakes * lettersPerMistake <= Math.max(typed.length, word.length),
    );
  return candidates.toSorted((a, b) => a.mistakes - b.mistakes)[0]?.word;
}

/** The optimal string alignment distance: letters inserted, deleted, replaced, or swapped with a neighbour. */
function editDistance(a: string, b: string): number {
  let rowBeforeLast: number[] = [];
  let lastRow = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        cell(lastRow, j) + 1,
        cell(row, j - 1) + 1,
        cell(lastRow, j - 1) + (same ? 0 : 1),
        swapped ? cell(rowBeforeLast, j - 2) + 1 : Infinity,
      );
    }
    [rowBeforeLast, lastRow] = [lastRow, row];
  }
  return cell(lastRow, b.length);
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
