import { OAuthInvalidRequest } from './oauth.errors.js';

/** Whether the percent-encoding is complete and decodes to UTF-8. Parsers disagree about other input. */
export function isWellEncoded(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** The parameters of a query or form. An empty parameter counts as omitted (RFC 6749 §3.1 and §3.2). */
export class Parameters {
  constructor(private readonly source: Readonly<Record<string, unknown>>) {}

  /** Undefined if the parameter is omitted or repeated. */
  get(name: string): string | undefined {
    return this.isRepeated(name) ? undefined : this.all(name)[0];
  }

  /** All values that are not empty. */
  all(name: string): string[] {
    const values = Object.hasOwn(this.source, name) ? [this.source[name]].flat() : [];
    return values.filter((value): value is string => typeof value === 'string' && value !== '');
  }

  /** @throws OAuthInvalidRequest if the parameter is omitted or repeated */
  require(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new OAuthInvalidRequest(`${name} is required.`);
    return value;
  }

  isRepeated(name: string): boolean {
    return Object.hasOwn(this.source, name) && Array.isArray(this.source[name]);
  }

  names(): string[] {
    return Object.keys(this.source);
  }

  /** The names of the repeated parameters. */
  repeated(): string[] {
    return this.names().filter((name) => this.isRepeated(name));
  }
}
