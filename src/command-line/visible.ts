/** What moves a cursor, changes colours or rings a bell on some terminal (ECMA-48). */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** A text that a terminal shows and does not obey: control characters are written as JSON writes them, so that JSON stays the same. */
export function visible(text: string): string {
  return text.replace(
    CONTROL,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
