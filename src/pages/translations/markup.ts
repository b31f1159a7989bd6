import { Eta } from 'eta';

/** Trusted HTML. Only `markup` creates it. */
export class Markup {
  constructor(private readonly source: string) {}

  toString(): string {
    return this.source;
  }
}

export type Text = string | Markup;

const escape = new Eta().config.escapeFunction;

/** Escapes the value unless it is `Markup`. */
export function toHtml(value: unknown): string {
  return value instanceof Markup ? value.toString() : escape(value);
}

/** Template tag for HTML. Escapes the values unless they are `Markup`. */
export function markup(template: TemplateStringsArray, ...values: Text[]): Markup {
  return new Markup(String.raw({ raw: template }, ...values.map(toHtml)));
}

/** A letter that is written from right to left. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Isolates the direction of a name in plain text, such as a title, as `<bdi>` does in HTML (Unicode Annex 9, FSI and PDI). Only if the
 * name needs it, because browsers in a terminal show the two characters.
 */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
