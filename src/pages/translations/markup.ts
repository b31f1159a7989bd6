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

/** Escapes any value but markup. */
export function toHtml(value: unknown): string {
  return value instanceof Markup ? value.toString() : escape(value);
}

/** A template tag: the template is HTML, its values are escaped unless they are markup. */
export function markup(template: TemplateStringsArray, ...values: Text[]): Markup {
  return new Markup(String.raw({ raw: template }, ...values.map(toHtml)));
}
