import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isUrl } from './is-url.js';
import type { OpenApiDocument, Schema } from './document.js';

/** What `value` breaks, each with its place; none when it conforms. */
export type Check = (value: unknown) => string[];

/**
 * Compiles the schemas of a document (JSON Schema 2020-12).
 *
 * `closed` refuses fields and codes that a schema does not name. The document itself leaves answers open, because clients must
 * accept new ones; but a field or code that this service sends and does not document is a fault.
 */
export function schemaChecks(
  { components }: OpenApiDocument,
  { closed }: { closed: boolean },
): (schema: Schema) => Check {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    strictTypes: false,
  });
  // Its types are those of a CommonJS module, where the function is the export itself.
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  ajv.addFormat('iri', isUrl);
  ajv.addVocabulary(['example']);
  const prepared = (schema: Schema): Schema => withIds(closed ? closedSchema(schema) : schema);
  for (const [name, schema] of Object.entries(components.schemas))
    ajv.addSchema({ $id: idOf(name), ...prepared(schema) });
  const compiled = new WeakMap<Schema, ValidateFunction>();
  return (schema) => {
    const validate = compiled.get(schema) ?? ajv.compile(prepared(schema));
    compiled.set(schema, validate);
    return (value) => (validate(value) ? [] : (validate.errors ?? []).map(told));
  };
}

function told({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;
}

function idOf(name: string): string {
  return `schema:${name}`;
}

function withIds(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', idOf(''))) as Schema;
}

function closedSchema(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    isObjectSchema(value)
      ? { unevaluatedProperties: false, ...value }
      : isOpenCode(value)
        ? value.anyOf[0]
        : value,
  ) as Schema;
}

/** One of the codes that there are, or any other. */
function isOpenCode(value: unknown): value is { anyOf: [Schema, Schema] } {
  const { anyOf = [], type } = (value ?? {}) as { anyOf?: Schema[]; type?: string };
  const [present, any] = anyOf;
  return (
    type === undefined &&
    anyOf.length === 2 &&
    present !== undefined &&
    ('enum' in present || '$ref' in present) &&
    any?.type === 'string'
  );
}

function isObjectSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
}
