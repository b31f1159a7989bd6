import { InvalidRequest } from './oauth.errors.js';

/** Whether every `%` begins an encoded byte and the bytes are UTF-8. Parsers guess at anything else, and each differently. */
export function isWellEncoded(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** The parameters of a query or form, as RFC 6749 §3.1 and §3.2 want them read: an empty one counts as omitted. */
export class Parameters {
  constructor(private readonly source: Readonly<Record<string, unknown>>) {}

  /** The value, or undefined when it was not sent, sent empty, or sent more than once. */
  get(name: string): string | undefined {
    return this.isRepeated(name) ? undefined : this.all(name)[0];
  }

  /** Every value that was sent, but for empty ones. */
  all(name: string): string[] {
    const values = Object.hasOwn(this.source, name) ? [this.source[name]].flat() : [];
    return values.filter((value): value is string => typeof value === 'string' && value !== '');
  }

  /** @throws InvalidRequest when the parameter was not sent */
  require(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new InvalidRequest(`${name} is required.`);
    return value;
  }

  isRepeated(name: string): boolean {
    return Object.hasOwn(this.source, name) && Array.isArray(this.source[name]);
  }

  /** The names that were sent. */
  names(): string[] {
    return Object.keys(this.source);
  }

  /** Those that were sent more than once. */
  repeated(): string[] {
    return this.names().filter((name) => this.isRepeated(name));
  }
}
