import type { OpenAPIObject } from '@nestjs/swagger';
import { MAX_RETRY_AFTER_SECONDS } from '../../retry-after.js';

type SchemaObject = Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>;

const CODE = { type: 'string' as const, pattern: '^[a-z][a-z_]*$' };

/** An enum that future values may extend. With a closed enum, a new value would break generated clients. */
export function extensibleEnum(known: SchemaObject | { $ref: string }): {
  anyOf: SchemaObject[];
} {
  return { anyOf: [known as SchemaObject, CODE] };
}

/** An extensible enum of the values of a named schema. */
export function extensibleEnumOf(name: string): { anyOf: SchemaObject[] } {
  return extensibleEnum({ $ref: `#/components/schemas/${name}` });
}

/** A time in responses: ISO 8601, UTC, with milliseconds (product requirements, section 2). */
export const TIME = {
  format: 'date-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
  example: '2026-11-21T09:30:00.000Z',
};

/** A number with all its digits: without the format, generators of Go clients read it as a float32. */
export const DOUBLE = { type: 'number' as const, format: 'double' };

/** The documented header `Retry-After` (RFC 9110 §10.2.3). */
export const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait, at most a week.',
    required: true,
    schema: { type: 'integer' as const, minimum: 1, maximum: MAX_RETRY_AFTER_SECONDS },
    example: 5,
  },
};
