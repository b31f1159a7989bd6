import { Eta } from 'eta';

/** HTML that is safe to show as it is: `markup` makes it, and nothing else. */
export class Markup {
  private constructor(private readonly source: string) {}

  /** Fills a template: what it is filled with is escaped, unless it is markup itself. */
  static of(template: TemplateStringsArray, values: readonly Text[]): Markup {
    return new Markup(String.raw({ raw: template }, ...values.map(toHtml)));
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

/** A tag for words with elements in them: the template is HTML, what it is filled with is not. */
export function markup(template: TemplateStringsArray, ...values: Text[]): Markup {
  return Markup.of(template, values);
}
