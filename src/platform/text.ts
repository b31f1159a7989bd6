const INVISIBLE = /[\p{White_Space}\p{Cc}\p{Cf}\u2800\u3164\u115f\u1160\uffa0]/gu;
/** C0 controls and DEL, but tab, line feed and carriage return. */
const CONTROL = /(?![\t\n\r\u0080-\u009f])\p{Cc}/u;

/** Length in Unicode code points: the unit of every text limit, as in JSON Schema and MySQL's CHAR_LENGTH. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether nothing visible is left once white space, control and format characters and blank letters are removed. */
export function isBlank(text: string): boolean {
  return text.replace(INVISIBLE, '') === '';
}

/** Whether the text has a control character other than tab, line feed and carriage return. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** Whether the text has no lone surrogate, so that UTF-8 stores exactly what was sent. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** How much of a word may be mistyped: one letter in three. */
const LETTERS_A_MISTAKE = 3;

/**
 * The word that was probably meant, or undefined when none is near. Letter case does not count; of equally near words the
 * first is taken. Costs the product of the two lengths for each word: keep what is typed short.
 */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const near = words
    .map((word) => ({ word, mistakes: mistakesBetween(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(
      ({ word, mistakes }) => mistakes * LETTERS_A_MISTAKE <= Math.max(typed.length, word.length),
    );
  return near.toSorted((a, b) => a.mistakes - b.mistakes)[0]?.word;
}

/** Letters that were added, left out, replaced, or swapped with their neighbour (the optimal string alignment distance). */
function mistakesBetween(a: string, b: string): number {
  let [before, last] = [Array<number>(), Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
        swapped ? at(before, j - 2) + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
