import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { FieldError } from '../../errors.js';

const AT_LEAST_ONE_OF = 'http:at-least-one-of';

/** A body that must have at least one of these fields, not null and, where it is a list, not empty. */
export function AtLeastOneOf(...fields: string[]): ClassDecorator {
  return SetMetadata(AT_LEAST_ONE_OF, fields);
}

/** The violation of the class's `@AtLeastOneOf`, if the body breaks it. A field that is broken itself was at least meant. */
export function checkAtLeastOneOf(
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

interface RequestRules {
  /** The name of the schema. */
  name: string;
  description: string;
  /** Fields of which one must be there, not null and, where it is a list, not empty. */
  atLeastOneOf?: readonly string[];
  /** Numbers of which neither is there without the other. Their own decorators check it. */
  together?: readonly string[];
}

/**
 * A request body as one whole: what its fields demand of each other, and that it holds no others. Checked, and written into
 * the published document, where null means absent as well.
 */
export function RequestSchema({
  name,
  description,
  atLeastOneOf = [],
  together = [],
}: RequestRules): ClassDecorator {
  const allOf = [
    ...(atLeastOneOf.length > 0 ? [{ anyOf: atLeastOneOf.map(suppliedSchema) }] : []),
    ...(together.length > 0
      ? [
          {
            anyOf: [
              { required: together, ...eachOf(together, 'number') },
              eachOf(together, 'null'),
            ],
          },
        ]
      : []),
  ];
  const keywords = {
    name,
    description:
      atLeastOneOf.length > 0
        ? `${description} At least one of ${atLeastOneOf.join(', ')} must be supplied.`
        : description,
    additionalProperties: false,
    ...(allOf.length > 0 && { allOf }),
  };
  return applyDecorators(AtLeastOneOf(...atLeastOneOf), ApiSchema(keywords));
}

function suppliedSchema(field: string): object {
  return {
    required: [field],
    properties: { [field]: { type: ['string', 'array'], minItems: 1 } },
  };
}

function eachOf(fields: readonly string[], type: string): object {
  return { properties: Object.fromEntries(fields.map((field) => [field, { type }])) };
}
