import type { OpenAPIObject } from '@nestjs/swagger';

type SchemaObject = Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>;

/** Any stable code. */
const CODE = { type: 'string' as const, pattern: '^[a-z][a-z_]*$' };

/**
 * A code of an answer: a present one or one of tomorrow. A closed list would make each new one break the clients that were
 * generated from it.
 */
export function extensibleEnum(present: SchemaObject | { $ref: string }): {
  anyOf: SchemaObject[];
} {
  return { anyOf: [present as SchemaObject, CODE] };
}

/** The same of a list that the document has as a schema of its own. */
export function extensibleEnumOf(name: string): { anyOf: SchemaObject[] } {
  return extensibleEnum({ $ref: `#/components/schemas/${name}` });
}

/** A time in responses: ISO 8601, UTC, with milliseconds (source document, section 2). */
export const TIME = {
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  example: '2026-11-21T09:30:00.000Z',
};

/** The documented header `Retry-After` (RFC 9110 §10.2.3). */
export const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait.',
    required: true,
    schema: { type: 'integer' as const, minimum: 1 },
    example: 5,
  },
};
