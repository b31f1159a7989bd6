import * as fc from 'fast-check';
import { Arbitraries } from './arbitraries.js';
import type { OpenApiDocument, Parameter, Place, Schema } from './published-document.js';

/** An encoded request. */
export interface MadeRequest {
  method: string;
  /** Encoded, with the query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

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
/** Texts that are not integers. */
const NO_INTEGERS = [
  '',
  'abc',
  '1.5',
  '0x1',
  '1e2',
  ' 1',
  '+1',
  '01',
  '9'.repeat(22),
  '-0',
  'null',
];

/** Generates valid and invalid requests of an operation. */
export class RequestArbitraries {
  private readonly values: Arbitraries;

  /** @param known values by name that no schema contains @param token an access token with every scope */
  constructor(
    document: OpenApiDocument,
    known: Readonly<Record<string, fc.Arbitrary<unknown>>>,
    private readonly token: string,
  ) {
    this.values = new Arbitraries(document, known);
  }

  valid(place: Place): fc.Arbitrary<MadeRequest> {
    return this.parts(place).map((parts) => encoded(place, parts));
  }

  /** Generates requests with exactly one fault; null when the operation has no input. */
  invalid(place: Place): fc.Arbitrary<MadeRequest> | null {
    const wrong = [
      ...(isGuarded(place) ? [{ weight: 1, arbitrary: this.withoutAccess(place) }] : []),
      ...this.parameters(place)
        .filter((parameter) => isNeeded(parameter) || isBounded(parameter.schema))
        .map((parameter) => ({ weight: 5, arbitrary: this.withWrong(place, parameter) })),
      ...this.wrongBodies(place).map((arbitrary) => ({ weight: 20, arbitrary })),
    ];
    return wrong.length === 0 ? null : fc.oneof(...wrong).map((parts) => encoded(place, parts));
  }

  private parts(place: Place): fc.Arbitrary<Parts> {
    const schema = bodyOf(place);
    return fc.record({
      path: this.part(place, 'path'),
      query: this.part(place, 'query'),
      header: this.part(place, 'header'),
      body: schema ? this.values.valid(schema) : fc.constant(undefined),
      authorization: fc.constant(isGuarded(place) ? `Bearer ${this.token}` : undefined),
    });
  }

  private part(place: Place, where: Parameter['in']): fc.Arbitrary<Part> {
    const parameters = this.parameters(place).filter((one) => one.in === where);
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

  private parameters({ operation }: Place): Parameter[] {
    return operation.parameters ?? [];
  }

  private withoutAccess(place: Place): fc.Arbitrary<Parts> {
    return fc
      .tuple(
        this.parts(place),
        fc.constantFrom(undefined, 'Bearer', 'Basic eDp5', 'Bearer svcat_x', `Token ${this.token}`),
      )
      .map(([parts, authorization]) => ({ ...parts, authorization }));
  }

  private withWrong(place: Place, parameter: Parameter): fc.Arbitrary<Parts> {
    const { name, in: where } = parameter;
    return fc
      .tuple(this.parts(place), fc.oneof(...this.wrongValues(place, parameter)))
      .map(([parts, value]) => ({ ...parts, [where]: { ...parts[where], [name]: value } }));
  }

  /** Generates invalid values of a parameter; undefined omits it. */
  private wrongValues(place: Place, parameter: Parameter): fc.Arbitrary<unknown>[] {
    const { in: where, schema } = parameter;
    const type = schema.type === 'integer' ? 'number' : 'string';
    return [
      ...(isNeeded(parameter) ? [fc.constant(undefined)] : []),
      ...(type === 'number' ? [fc.constantFrom(...NO_INTEGERS)] : []),
      ...(isBounded(schema)
        ? [
            this.values
              .invalid(schema)
              .filter((value) => typeof value === type && canBeSent(where, value))
              // An empty parameter of OAuth counts as omitted (RFC 6749 §3.1).
              .filter((value) => value !== '' || !place.path.startsWith('/oauth/')),
          ]
        : []),
    ];
  }

  private wrongBodies(place: Place): fc.Arbitrary<Parts>[] {
    const schema = bodyOf(place);
    if (!schema) return [];
    const bodies = this.values.invalid(schema).filter((body) => !isForm(place) || isFormLike(body));
    return [fc.tuple(this.parts(place), bodies).map(([parts, body]) => ({ ...parts, body }))];
  }
}

export function isForm({ operation }: Place): boolean {
  return FORM in (operation.requestBody?.content ?? {});
}

function isGuarded({ operation }: Place): boolean {
  return (operation.security ?? []).some((requirement) => 'oauth2' in requirement);
}

function bodyOf({ operation }: Place): Schema | undefined {
  return Object.values(operation.requestBody?.content ?? {})[0]?.schema;
}

/** Whether a request without the parameter is invalid; a path is always complete. */
function isNeeded({ in: where, required }: Parameter): boolean {
  return where === 'query' && required === true;
}

function isBounded(schema: Schema): boolean {
  return ['pattern', 'enum', 'format', 'maxLength', 'minimum'].some((rule) => rule in schema);
}

/** Form values are texts, and the total length is limited. */
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
      // Clients resolve dot segments, and an empty segment makes another path.
      return text.isWellFormed() && !/^\.{0,2}$/.test(text);
    default:
      return text.isWellFormed();
  }
}

function encoded(place: Place, { path, query, header, body, authorization }: Parts): MadeRequest {
  const filled = place.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name])),
  );
  const search = new URLSearchParams(texts(query)).toString();
  const form = isForm(place);
  return {
    method: place.method.toUpperCase(),
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
