import { applyDecorators } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { AtLeastOneOf } from './at-least-one-of.decorator.js';

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
    ...(atLeastOneOf.length > 0 ? [{ anyOf: atLeastOneOf.map(supplied) }] : []),
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

function supplied(field: string): object {
  return {
    required: [field],
    properties: { [field]: { type: ['string', 'array'], minItems: 1 } },
  };
}

function eachOf(fields: readonly string[], type: string): object {
  return { properties: Object.fromEntries(fields.map((field) => [field, { type }])) };
}
