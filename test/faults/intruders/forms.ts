/** A form of a page. */
export interface Form {
  action: string;
  /** What the page puts into each field, by its name; of several fields of one name, into the last. */
  fields: Record<string, string>;
}

/** The forms of a page, in its order. */
export function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', inside = '']) => ({ action, fields: fieldsIn(inside) }),
  );
}

function fieldsIn(html: string): Record<string, string> {
  const tags = [
    ...html.matchAll(/<(?:input|button|select|textarea)\b[^>]*\bname="([^"]*)"[^>]*>/g),
  ];
  return Object.fromEntries(
    tags.map(([tag, name = '']) => [name, /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '']),
  );
}
