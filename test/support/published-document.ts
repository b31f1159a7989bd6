import { readFileSync } from 'node:fs';
import addFormats from 'ajv-formats';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

/**
 * Whether the text is an absolute URL. Does not use `URL.canParse`: once optimized, it is wrong in Node 20 and 22 for characters
 * from U+0080 to U+00FF.
 */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}

/** A JSON Schema. Only the keywords that tests read are typed. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  pattern?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}

export interface Header {
  required?: boolean;
  schema: Schema;
}

export interface Parameter extends Header {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
}

export interface MediaType {
  schema: Schema;
  examples?: Record<string, { value: unknown }>;
}

export interface DeclaredResponse {
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, DeclaredResponse>;
}

export interface OpenApiDocument {
  openapi: string;
  info: { version: string; description?: string };
  servers: { url: string }[];
  externalDocs?: { url: string };
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    parameters: Record<string, Parameter>;
    securitySchemes: Record<string, { flows?: Record<string, Record<string, unknown>> }>;
  };
}

/** An operation with its path and method. */
export interface OperationEntry {
  /** In lower case, as in the document. */
  method: string;
  /** With parameters in braces. */
  path: string;
  operation: Operation;
}

const COMMITTED = new URL('../../openapi/openapi.json', import.meta.url);

/** The committed document, dereferenced. */
export function publishedDocument(): OpenApiDocument {
  return dereferenced(JSON.parse(readFileSync(COMMITTED, 'utf8')) as OpenApiDocument);
}

/** Every operation, in the order of the document. */
export function operationEntries(document: OpenApiDocument): OperationEntry[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

/** Resolves every reference except those to schemas. */
export function dereferenced(document: OpenApiDocument): OpenApiDocument {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) => {
    const [, kind, name = ''] =
      /^#\/components\/(headers|parameters)\/(.+)$/.exec(reference(value)) ?? [];
    return kind === undefined ? value : document.components[kind as 'headers'][name];
  }) as OpenApiDocument;
}

function reference(value: unknown): string {
  return typeof value === 'object' && value !== null && '$ref' in value ? String(value.$ref) : '';
}

/** Returns the violations of a value, each with its JSON pointer. */
export type Check = (value: unknown) => string[];

/**
 * Compiles the schemas of a document (JSON Schema 2020-12).
 *
 * `allowUnknown` also accepts fields and codes that a schema does not name, as the document does for responses: clients must accept
 * new fields and codes. Without it, the checks reject them, because the service must document every field and code that it sends.
 */
export function schemaChecks(
  { components }: OpenApiDocument,
  { allowUnknown }: { allowUnknown: boolean },
): (schema: Schema) => Check {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    // The branches of the token form name properties that are defined beside them.
    strictRequired: false,
    allowUnionTypes: true,
    strictTypes: false,
  });
  // The package's types wrongly describe a CommonJS module whose export is the function.
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  ajv.addFormat('iri', isUrl);
  // Stricter than the format: the descriptions promise UTC and milliseconds.
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addVocabulary(['example']);
  const prepared = (schema: Schema): Schema =>
    withIds(allowUnknown ? schema : closedSchema(schema));
  for (const [name, schema] of Object.entries(components.schemas))
    ajv.addSchema({ $id: idOf(name), ...prepared(schema) });
  const compiled = new WeakMap<Schema, ValidateFunction>();
  return (schema) => {
    const validate = compiled.get(schema) ?? ajv.compile(prepared(schema));
    compiled.set(schema, validate);
    return (value) => (validate(value) ? [] : (validate.errors ?? []).map(formatError));
  };
}

function formatError({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;
}

function idOf(name: string): string {
  return `schema:${name}`;
}

function withIds(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', idOf(''))) as Schema;
}

/** The schema without permission for fields and codes that it does not name. */
function closedSchema(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    isObjectSchema(value)
      ? { unevaluatedProperties: false, ...value }
      : isOpenCode(value)
        ? value.anyOf[0]
        : value,
  ) as Schema;
}

/** Whether a schema names known codes, but permits any other text. */
function isOpenCode(value: unknown): value is { anyOf: [Schema, Schema] } {
  const { anyOf = [], type } = (value ?? {}) as { anyOf?: Schema[]; type?: string };
  const [known, anyText] = anyOf;
  return (
    type === undefined &&
    anyOf.length === 2 &&
    known !== undefined &&
    ('enum' in known || '$ref' in known) &&
    anyText?.type === 'string'
  );
}

function isObjectSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
}

/** A document without its origin, and without `externalDocs`, whose URL must be absolute: to compare a served one with the committed one. */
export function withoutOrigin(document: OpenApiDocument, origin: string): OpenApiDocument {
  const { externalDocs: _, ...others } = document;
  const text = JSON.stringify({ ...others, servers: [{ url: '/' }] });
  return JSON.parse(text.replaceAll(origin, '')) as OpenApiDocument;
}
