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

/**
 * An extensible enum of the values of a named schema. Generators name the type by the title: without it, some call the type of the
 * field `code` of `FieldError` like the schema `FieldErrorCode`.
 */
export function extensibleEnumOf(name: string): { title: string; anyOf: SchemaObject[] } {
  return { title: `Any${name}`, ...extensibleEnum({ $ref: `#/components/schemas/${name}` }) };
}

/**
 * A time in responses: ISO 8601, UTC, with milliseconds (product requirements, section 2). It has no pattern: some generated clients
 * parse the time and then check the pattern on another text of it, so that they reject every response.
 */
export const TIME = {
  format: 'date-time',
  example: '2026-11-21T09:30:00.000Z',
};

/** A number with all its digits: without the format, generators of Go clients read it as a float32. */
export const DOUBLE = { type: 'number' as const, format: 'double' };

/** A time in seconds since 1970: without the format, some generated clients read no time after January 2038. */
export const UNIX_SECONDS = { type: 'integer' as const, format: 'int64' };

/** The documented header `Retry-After` (RFC 9110 §10.2.3). */
export const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait, at most a week.',
    required: true,
    schema: { type: 'integer' as const, minimum: 1, maximum: MAX_RETRY_AFTER_SECONDS },
    example: 5,
  },
};
