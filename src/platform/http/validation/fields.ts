import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, ApiSchema } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { idPattern, type IdPrefix } from '../../ids.js';
import * as rules from './rules.js';
import { DOUBLE } from './schemas.openapi.js';
import type { FieldError } from '../../errors.js';

/*
 * Decorators for fields of request bodies. Each sets the validation rules and the OpenAPI schema, so that they agree.
 * Rules about characters and URLs are in the description, because some tools reject patterns with `\p{…}`. Patterns use only syntax
 * that ECMAScript, RE2, Python and Rust read alike.
 */

interface FieldOptions {
  description: string;
  example: unknown;
  /** False by default: the field may be absent or null, which are equivalent. */
  required?: boolean;
}

/** Text of 1 to `max` code points, not blank, stored unchanged. */
export function TextField(
  options: FieldOptions & { max: number; singleLine?: boolean },
): PropertyDecorator {
  return field(
    options,
    { type: 'string', minLength: 1, maxLength: options.max },
    rules.isText(),
    rules.wellFormed(),
    rules.withoutControlCharacters(),
    ...(options.singleLine ? [rules.onOneLine()] : []),
    rules.notBlank(),
    rules.atMostCodePoints(options.max),
  );
}

/** An array of texts, each on one line, not blank, and of 1 to `max` code points. */
export function TextListField(
  options: FieldOptions & { maxItems: number; max: number },
): PropertyDecorator {
  return listField(
    options,
    { type: 'string', minLength: 1, maxLength: options.max },
    rules.onOneLine(),
    rules.notBlank(),
    rules.atMostCodePoints(options.max),
  );
}

/** An array of http or https URLs of at most `max` code points, stored unchanged and never fetched. */
export function UrlListField(
  options: FieldOptions & { maxItems: number; max: number },
): PropertyDecorator {
  return listField(
    options,
    { type: 'string', format: 'iri', maxLength: options.max },
    rules.atMostCodePoints(options.max),
    rules.webUrls(),
  );
}

/** A number within bounds. With `pairedWith`, both fields must be present or both absent. */
export function NumberField(
  options: FieldOptions & { min: number; max: number; pairedWith?: string },
): PropertyDecorator {
  const { pairedWith } = options;
  return applyDecorators(
    ApiProperty(
      propertyOptions(options, { ...DOUBLE, minimum: options.min, maximum: options.max }),
    ),
    ValidateIf(
      (body: Record<string, unknown>, value) =>
        isPresent(value) || (pairedWith !== undefined && isPresent(body[pairedWith])),
    ),
    ...(pairedWith === undefined
      ? []
      : [
          rules.rule(
            'pair_required',
            isPresent,
            `is missing: it must be sent together with ${pairedWith}`,
          ),
        ]),
    rules.isNumber(),
    rules.atLeast(options.min),
    rules.atMost(options.max),
  );
}

/** A string from a fixed set (OpenAPI `enum`). */
export function EnumField(
  options: FieldOptions & { values: readonly string[] },
): PropertyDecorator {
  return field(
    options,
    { type: 'string', enum: [...options.values] },
    rules.isText(),
    rules.oneOf(options.values),
  );
}

/** A string that matches a pattern. `requirement` is the error message without the field name. */
export function PatternField(
  options: FieldOptions & { pattern: RegExp; requirement: string },
): PropertyDecorator {
  return field(
    options,
    { type: 'string', pattern: options.pattern.source },
    rules.isText(),
    rules.matching(options.pattern, options.requirement),
  );
}

/** The id of another item. The service checks its format and existence, and returns one error code for both. */
export function ReferenceField(options: FieldOptions & { prefix: IdPrefix }): PropertyDecorator {
  return field(
    options,
    { type: 'string', pattern: idPattern(options.prefix).source },
    rules.isText(),
  );
}

/** @param checks rules for each text */
function listField(
  options: FieldOptions & { maxItems: number },
  items: { type: 'string'; minLength?: number; maxLength: number; format?: string },
  ...checks: PropertyDecorator[]
): PropertyDecorator {
  return field(
    options,
    { type: 'array', maxItems: options.maxItems, items },
    rules.isListOfText(),
    rules.atMostItems(options.maxItems),
    rules.wellFormed(),
    rules.withoutControlCharacters(),
    ...checks,
  );
}

function field(
  options: FieldOptions,
  schema: ApiPropertyOptions,
  ...checks: PropertyDecorator[]
): PropertyDecorator {
  return applyDecorators(
    ApiProperty(propertyOptions(options, schema)),
    ...(options.required ? [rules.required()] : [ValidateIf((_, value) => isPresent(value))]),
    ...checks,
  );
}

function propertyOptions(
  { description, example, required = false }: FieldOptions,
  schema: ApiPropertyOptions,
): ApiPropertyOptions {
  return {
    ...schema,
    description,
    example,
    required,
    ...(!required && { nullable: true }),
  } as ApiPropertyOptions;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const AT_LEAST_ONE_OF = 'http:at-least-one-of';

/** Checks the rule `atLeastOneOf` of the request class. A field with a violation counts as supplied. */
export function checkAtLeastOneOf(
  type: object,
  body: Record<string, unknown>,
  violations: readonly FieldError[],
): FieldError[] {
  const fields: string[] = Reflect.getMetadata(AT_LEAST_ONE_OF, type) ?? [];
  const invalid = new Set(violations.map((violation) => violation.field));
  if (fields.length === 0 || fields.some((name) => isSupplied(body[name]) || invalid.has(name)))
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
