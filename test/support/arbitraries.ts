import * as fc from 'fast-check';
import { describedRulesHold, isReadable } from './described-rules.js';
import {
  type Check,
  type OpenApiDocument,
  type Schema,
  schemaChecks,
} from './published-document.js';

/** Fixed, so that runs are comparable. `npm run test:fuzz` uses a random seed. */
const DEFAULT_SEED = 20_261_121;

const { FUZZ_SEED, FUZZ_RUNS } = process.env;

/** The same seed generates the same requests. */
export const SEED =
  FUZZ_SEED === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(FUZZ_SEED ?? DEFAULT_SEED);

/** The number of valid requests, and of invalid ones, to generate for each operation. If undefined, the test sets it. */
export const RUNS = FUZZ_RUNS === undefined ? undefined : Number(FUZZ_RUNS);

console.info(`Generating requests with FUZZ_SEED=${SEED}.`);

/** Valid texts that often reveal bugs. */
const AWKWARD = [
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}} ${7*7} %s%n',
  '=cmd|calc',
  '../../etc/passwd',
  '\u202eright to left',
  'e\u0301\u0301\u0301\u0301',
  '👩‍👩‍👧‍👦 🏳️‍🌈',
  '\u2800visible after blanks',
  'ﷺ',
  '🂡',
];
/** Texts that most schemas reject. */
const BROKEN = [
  '',
  ' ',
  '\u2800',
  '\u200b\u3164',
  'a\u0000',
  '\u001b[0m',
  'a\ud800',
  '\udc00',
  'a\tb\nc',
];
const URLS = [
  'https://bücher.example/ü?ö#ä',
  'HTTP://EXAMPLE.COM',
  'http://127.0.0.1:1/',
  'https://[::1]/',
  'https://💩.example/',
  'https://例え。jp/',
  'https://a_b..example/',
];
const BROKEN_URLS = [
  'javascript:alert(1)',
  '//x/y',
  '/a.jpg',
  'https://u:p@x',
  'https://x/ y',
  'ftp://x',
  'https://',
];
/** Longest generated text, except for texts of exactly the maximum length of their schema. */
const MAX_LENGTH = 60;

/** Generates valid and slightly invalid values from the schemas of a document. */
export class Arbitraries {
  private readonly checkOf: (schema: Schema) => Check;

  /** @param known values that no schema can express, such as existing ids, by the name of their field or parameter */
  constructor(
    private readonly document: OpenApiDocument,
    private readonly known: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  ) {
    this.checkOf = schemaChecks(document, { allowUnknown: true });
  }

  valid(schema: Schema, name = ''): fc.Arbitrary<unknown> {
    const knownValues = this.known[name];
    if (knownValues) return knownValues;
    const resolved = this.resolved(schema);
    return fc
      .oneof(...typesOf(resolved).map((type) => this.ofType(type, resolved)))
      .filter((value) => this.conforms(resolved, value));
  }

  /** Generates values that violate the schema: near misses and arbitrary JSON. */
  invalid(schema: Schema): fc.Arbitrary<unknown> {
    const resolved = this.resolved(schema);
    return fc
      .oneof(
        ...typesOf(resolved)
          .flatMap((type) => this.nearMisses(type, resolved))
          .map((arbitrary) => ({ weight: 4, arbitrary })),
        { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
      )
      .filter((value) => !this.conforms(resolved, value));
  }

  private conforms(schema: Schema, value: unknown): boolean {
    return this.checkOf(schema)(value).length === 0 && describedRulesHold(schema, value);
  }

  private resolved(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : (this.document.components.schemas[name] ?? schema);
  }

  private ofType(type: string, schema: Schema): fc.Arbitrary<unknown> {
    if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]));
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.oneof(fc.integer(boundsOf(schema)), edges(schema));
      case 'number':
        return fc.oneof(
          fc.double({ ...boundsOf(schema), noNaN: true, noDefaultInfinity: true }),
          edges(schema),
        );
      case 'array':
        return fc.array(this.valid(schema['items'] as Schema), {
          minLength: numberOr(schema['minItems'], 0),
          maxLength: numberOr(schema['maxItems'], 5),
        });
      case 'object':
        return fc.record(
          mapValues(schema.properties ?? {}, (property, name) => this.valid(property, name)),
          { requiredKeys: schema.required ?? [] },
        );
      default:
        return texts(schema);
    }
  }

  private nearMisses(type: string, schema: Schema): fc.Arbitrary<unknown>[] {
    switch (type) {
      case 'integer':
      case 'number': {
        const { min, max } = boundsOf(schema);
        return [
          fc.constantFrom(min - 1, max + 1, min - 1e-9, max + 1e-9, -1e308, 1e308, String(max)),
        ];
      }
      case 'string':
        return [
          fc.constantFrom(...BROKEN, ...BROKEN_URLS, ...AWKWARD),
          fc.constantFrom('a', '😀').map((one) => one.repeat(numberOr(schema['maxLength'], 0) + 1)),
        ];
      case 'array':
        return this.brokenLists(schema);
      case 'object':
        return this.brokenObjects(schema);
      default:
        return [];
    }
  }

  private brokenLists(schema: Schema): fc.Arbitrary<unknown>[] {
    const item = schema['items'] as Schema;
    const tooMany = numberOr(schema['maxItems'], 0) + 1;
    return [
      fc.array(this.valid(item), { minLength: tooMany, maxLength: tooMany }),
      fc.array(this.invalid(item), { minLength: 1, maxLength: 3 }),
    ];
  }

  /** Generates an object with one fault: an invalid, an unknown or a missing field. */
  private brokenObjects(schema: Schema): fc.Arbitrary<unknown>[] {
    const object = this.valid(schema).map((value) => value as object);
    return [
      ...Object.entries(schema.properties ?? {}).map(([name, property]) =>
        fc
          .tuple(object, this.invalid(property))
          .map(([value, broken]) => ({ ...value, [name]: broken })),
      ),
      ...Object.keys(schema.properties ?? {}).map((name) =>
        object.map((value) =>
          Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)),
        ),
      ),
      fc
        .tuple(
          object,
          fc.string({ minLength: 1, maxLength: MAX_LENGTH }),
          fc.jsonValue({ maxDepth: 1 }),
        )
        .map(([value, name, extra]) =>
          Object.fromEntries([...Object.entries(value), [name, extra]]),
        ),
    ];
  }
}

function typesOf({ type = 'string' }: Schema): string[] {
  return [type].flat();
}

function texts(schema: Schema): fc.Arbitrary<string> {
  const pattern = schema.pattern ?? '';
  const maxLength = numberOr(schema['maxLength'], MAX_LENGTH);
  if (/^(uri|iri)$/.test(String(schema['format'])))
    return (
      fc
        .oneof(
          fc.webUrl({ withQueryParameters: true, withFragments: true }),
          fc.constantFrom(...URLS),
        )
        // Also within limits in bytes, and limits of non-ASCII characters, which JSON Schema cannot express.
        .filter((url) => Buffer.byteLength(url) <= maxLength)
    );
  if (pattern !== '' && !pattern.includes('\\p')) return fc.stringMatching(new RegExp(pattern));
  const short = Math.min(maxLength, MAX_LENGTH);
  const generated = fc.oneof(
    ...(['grapheme', 'binary', 'grapheme-ascii', 'binary-ascii'] as const).map((unit) =>
      fc.string({ unit, minLength: numberOr(schema['minLength'], 0), maxLength: short }),
    ),
    fc.constantFrom(...AWKWARD),
    ...(schema['maxLength'] === undefined
      ? []
      : [fc.constantFrom('a', '😀', 'ä').map((one) => one.repeat(maxLength))]),
  );
  return schema['minLength'] === undefined ? generated : generated.filter(isReadable);
}

function boundsOf(schema: Schema): { min: number; max: number } {
  return { min: numberOr(schema['minimum'], -1e6), max: numberOr(schema['maximum'], 1e6) };
}

/** The smallest and the largest valid number. */
function edges(schema: Schema): fc.Arbitrary<number> {
  const { min, max } = boundsOf(schema);
  return fc.constantFrom(min, max);
}

/** The value if it is a number, else the default. */
function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function mapValues<T, U>(
  entries: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, value]) => [name, change(value, name)]),
  );
}
