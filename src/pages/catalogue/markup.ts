import { Eta } from 'eta';

/** HTML that is safe to show as it is: made by `html` and by nothing else. */
export class Markup {
  private constructor(private readonly source: string) {}

  /** See `html`. */
  static of(literals: TemplateStringsArray, values: readonly Text[]): Markup {
    const shown = values.map((value) => toHtml(value));
    return new Markup(String.raw({ raw: literals }, ...shown));
  }

  toString(): string {
    return this.source;
  }
}

/** What a page says: words, or words with elements in them. */
export type Text = string | Markup;

const escape = new Eta().config.escapeFunction;

/** How a value stands in a page: markup as it is, anything else escaped. */
export function toHtml(value: unknown): string {
  return value instanceof Markup ? value.toString() : escape(value);
}

/** Words with elements in them. The template is HTML; what it is filled with is escaped, unless it is markup itself. */
export function html(literals: TemplateStringsArray, ...values: Text[]): Markup {
  return Markup.of(literals, values);
}
