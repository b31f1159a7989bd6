import * as fc from 'fast-check';
import { Arbitraries } from './arbitraries.js';
import type { OpenApiDocument, Parameter, OperationEntry, Schema } from './published-document.js';

export interface GeneratedRequest {
  method: string;
  /** Encoded, with the query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Values by parameter name. */
type Part = Partial<Record<string, unknown>>;

/** The parts of a request before encoding. */
interface Parts {
  path: Part;
  query: Part;
  header: Part;
  body: unknown;
  authorization: string | undefined;
}

const FORM = 'application/x-www-form-urlencoded';
/** Texts that the API does not accept as integers. */
const NOT_INTEGERS = ['abc', '1.5', '0x1', '1e2', ' 1', '+1', '01', '9'.repeat(22), '-0', 'null'];

/** Generates valid and invalid requests of an operation. */
export class RequestArbitraries {
  private readonly values: Arbitraries;

  /**
   * @param known values that no schema can express, such as existing ids, by the name of their field or parameter
   * @param token an access token with every scope
   */
  constructor(
    document: OpenApiDocument,
    known: Readonly<Record<string, fc.Arbitrary<unknown>>>,
    private readonly token: string,
  ) {
    this.values = new Arbitraries(document, known);
  }

  valid(entry: OperationEntry): fc.Arbitrary<GeneratedRequest> {
    return this.parts(entry).map((parts) => encoded(entry, parts));
  }

  /**
   * Generates requests in which exactly one of access token, parameters and body is invalid. Returns null if the operation has none
   * that can be invalid.
   */
  invalid(entry: OperationEntry): fc.Arbitrary<GeneratedRequest> | null {
    const wrong = [
      ...(isGuarded(entry) ? [{ weight: 1, arbitrary: this.withoutAccess(entry) }] : []),
      ...this.parameters(entry)
        .filter((parameter) => isNeeded(parameter) || isConstrained(parameter.schema))
        .map((parameter) => ({ weight: 5, arbitrary: this.withWrongParameter(entry, parameter) })),
      ...this.wrongBodies(entry).map((arbitrary) => ({ weight: 20, arbitrary })),
    ];
    return wrong.length === 0 ? null : fc.oneof(...wrong).map((parts) => encoded(entry, parts));
  }

  private parts(entry: OperationEntry): fc.Arbitrary<Parts> {
    const schema = bodyOf(entry);
    return fc.record({
      path: this.part(entry, 'path'),
      query: this.part(entry, 'query'),
      header: this.part(entry, 'header'),
      body: schema ? this.values.valid(schema) : fc.constant(undefined),
      authorization: fc.constant(isGuarded(entry) ? `Bearer ${this.token}` : undefined),
    });
  }

  private part(entry: OperationEntry, where: Parameter['in']): fc.Arbitrary<Part> {
    const parameters = this.parameters(entry).filter((one) => one.in === where);
    return fc.record(
      Object.fromEntries(
        parameters.map(({ name, schema }) => [
          name,
          this.values.valid(schema, name).filter((value) => canBeSent(where, value)),
        ]),
      ),
      { requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) },
    );
  }

  private parameters({ operation }: OperationEntry): Parameter[] {
    return operation.parameters ?? [];
  }

  private withoutAccess(entry: OperationEntry): fc.Arbitrary<Parts> {
    return fc
      .tuple(
        this.parts(entry),
        fc.constantFrom(undefined, 'Bearer', 'Basic eDp5', 'Bearer svcat_x', `Token ${this.token}`),
      )
      .map(([parts, authorization]) => ({ ...parts, authorization }));
  }

  private withWrongParameter(entry: OperationEntry, parameter: Parameter): fc.Arbitrary<Parts> {
    const { name, in: where } = parameter;
    return fc
      .tuple(this.parts(entry), fc.oneof(...this.wrongValues(entry, parameter)))
      .map(([parts, value]) => ({ ...parts, [where]: { ...parts[where], [name]: value } }));
  }

  /** Generates invalid values of a parameter. The value undefined omits it. */
  private wrongValues(entry: OperationEntry, parameter: Parameter): fc.Arbitrary<unknown>[] {
    const { in: where, schema } = parameter;
    const type = schema.type === 'integer' ? 'number' : 'string';
    return [
      ...(isNeeded(parameter) ? [fc.constant(undefined)] : []),
      ...(type === 'number' ? [fc.constantFrom(...NOT_INTEGERS)] : []),
      ...(isConstrained(schema)
        ? [
            this.values
              .invalid(schema)
              .filter((value) => typeof value === type && canBeSent(where, value))
              // An empty query parameter counts as omitted, as does any empty parameter of OAuth (RFC 6749 §3.1).
              .filter(
                (value) => value !== '' || (where !== 'query' && !entry.path.startsWith('/oauth/')),
              ),
          ]
        : []),
    ];
  }

  private wrongBodies(entry: OperationEntry): fc.Arbitrary<Parts>[] {
    const schema = bodyOf(entry);
    if (!schema) return [];
    const bodies = this.values.invalid(schema).filter((body) => !isForm(entry) || isFormLike(body));
    return [fc.tuple(this.parts(entry), bodies).map(([parts, body]) => ({ ...parts, body }))];
  }
}

export function isForm({ operation }: OperationEntry): boolean {
  return FORM in (operation.requestBody?.content ?? {});
}

/** Whether the operation requires an access token. */
function isGuarded({ operation }: OperationEntry): boolean {
  return (operation.security ?? []).some((requirement) => 'oauth2' in requirement);
}

function bodyOf({ operation }: OperationEntry): Schema | undefined {
  return Object.values(operation.requestBody?.content ?? {})[0]?.schema;
}

/** Whether a request without the parameter is invalid. Path parameters cannot be omitted, and no header is required. */
function isNeeded({ in: where, required }: Parameter): boolean {
  return where === 'query' && required === true;
}

/** Whether a value of the right type can violate the schema. */
function isConstrained(schema: Schema): boolean {
  return ['pattern', 'enum', 'format', 'maxLength', 'minimum'].some((rule) => rule in schema);
}

/** Whether the body can be sent as a form, whose values are texts. */
function isFormLike(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    !Array.isArray(body) &&
    Object.values(body).every((value) => typeof value === 'string' && value.isWellFormed())
  );
}

function canBeSent(where: Parameter['in'], value: unknown): boolean {
  const text = String(value);
  switch (where) {
    case 'header':
      return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
    case 'path':
      // Clients resolve dot segments, and an empty segment results in another path.
      return text.isWellFormed() && !/^\.{0,2}$/.test(text);
    default:
      return text.isWellFormed();
  }
}

function encoded(
  entry: OperationEntry,
  { path, query, header, body, authorization }: Parts,
): GeneratedRequest {
  const filled = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name])),
  );
  const search = new URLSearchParams(texts(query)).toString();
  const form = isForm(entry);
  return {
    method: entry.method.toUpperCase(),
    path: search === '' ? filled : `${filled}?${search}`,
    headers: {
      ...Object.fromEntries(texts(header)),
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': form ? FORM : 'application/json' }),
    },
    ...(body !== undefined && {
      body: form ? new URLSearchParams(texts(body as Part)).toString() : JSON.stringify(body),
    }),
  };
}

function texts(part: Part): [string, string][] {
  return Object.entries(part)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)]);
}
