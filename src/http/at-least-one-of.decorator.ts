import { SetMetadata } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { FieldError } from '../common/errors.js';

const AT_LEAST_ONE_OF = 'http:at-least-one-of';

/** A body that must have at least one of these fields, not null and, where it is a list, not empty. */
export function AtLeastOneOf(...fields: string[]): ClassDecorator {
  return (target) => {
    SetMetadata(AT_LEAST_ONE_OF, fields)(target);
    ApiSchema({ description: `At least one of ${fields.join(', ')} must be supplied.` })(target);
  };
}

/** The violation of the class's `@AtLeastOneOf`, if it has one and the body breaks it. */
export function missingAll(type: object, body: Record<string, unknown>): FieldError | undefined {
  const fields: string[] | undefined = Reflect.getMetadata(AT_LEAST_ONE_OF, type);
  if (!fields || fields.some((field) => supplied(body[field]))) return undefined;
  return {
    field: '',
    code: 'one_of_required',
    message: `Send at least one of: ${fields.join(', ')}.`,
  };
}

function supplied(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
