import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { FieldError } from '../../errors.js';

const AT_LEAST_ONE_OF = 'http:at-least-one-of';

/** Checks the rule `atLeastOneOf` of the request class. A field with a violation counts as supplied. */
export function checkAtLeastOneOf(
  type: object,
  body: Record<string, unknown>,
  violations: readonly FieldError[],
): FieldError[] {
  const fields: string[] = Reflect.getMetadata(AT_LEAST_ONE_OF, type) ?? [];
  const invalid = new Set(violations.map(({ field }) => field));
  if (fields.length === 0 || fields.some((field) => isSupplied(body[field]) || invalid.has(field)))
    return [];
  const message = `Send at least one of: ${fields.join(', ')}.`;
  return [{ field: '', code: 'one_of_required', message }];
}

function isSupplied(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

interface RequestRules {
  /** The name of the schema. */
  name: string;
  description: string;
  /** The body must have at least one of these fields. Null and empty lists do not count. */
  atLeastOneOf?: readonly string[];
}

/**
 * Rules between the fields of a request body, and the OpenAPI schema of the body. The description states the rules: generators turn
 * `anyOf` into unions of partial types, and some validators refuse `if`.
 */
export function RequestSchema({
  name,
  description,
  atLeastOneOf = [],
}: RequestRules): ClassDecorator {
  const rule = `At least one of ${atLeastOneOf.join(', ')} must be supplied; null and empty lists do not count.`;
  const keywords = {
    name,
    description: atLeastOneOf.length > 0 ? `${description} ${rule}` : description,
    additionalProperties: false,
  };
  return applyDecorators(SetMetadata(AT_LEAST_ONE_OF, atLeastOneOf), ApiSchema(keywords));
}
