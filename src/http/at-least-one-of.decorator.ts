import { SetMetadata } from '@nestjs/common';
import type { FieldError } from '../common/errors.js';

const AT_LEAST_ONE_OF = 'http:at-least-one-of';

/** A body that must have at least one of these fields, not null and, where it is a list, not empty. */
export function AtLeastOneOf(...fields: string[]): ClassDecorator {
  return SetMetadata(AT_LEAST_ONE_OF, fields);
}

/** The violation of the class's `@AtLeastOneOf`, if the body breaks it. A field that is broken itself was at least meant. */
export function missingAll(
  type: object,
  body: Record<string, unknown>,
  broken: readonly FieldError[],
): FieldError[] {
  const fields: string[] = Reflect.getMetadata(AT_LEAST_ONE_OF, type) ?? [];
  const meant = new Set(broken.map(({ field }) => field));
  if (fields.length === 0 || fields.some((field) => supplied(body[field]) || meant.has(field)))
    return [];
  const message = `Send at least one of: ${fields.join(', ')}.`;
  return [{ field: '', code: 'one_of_required', message }];
}

function supplied(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
