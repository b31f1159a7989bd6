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
