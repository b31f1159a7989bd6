import { Injectable, type ArgumentMetadata, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  validate,
  type ValidationError,
  type ValidatorOptions,
} from 'class-validator';
import { InvalidRequest, type FieldError, type FieldErrorCode } from '../common/errors.js';
import { missingAll } from './at-least-one-of.decorator.js';
import { MOST_FIELD_ERRORS } from './error.response.js';
import { assertShallow } from './shallow.js';

/** A name that somebody made up is told back this far. */
const LONGEST_NAME = 50;

/** A body may hold only what it declares, since a typo must not be published; of a query, the rest is ignored. */
const OPTIONS: Readonly<Record<'body' | 'query', ValidatorOptions>> = {
  body: {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    stopAtFirstError: true,
  },
  query: { whitelist: true, stopAtFirstError: true },
};

/**
 * Turns bodies and queries into their request classes and reports every violation at once.
 * @throws InvalidRequest with one entry per broken field
 */
@Injectable()
export class RequestPipe implements PipeTransform {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    const sent = type === 'body' ? objectIn(value) : (value as Record<string, unknown>);
    const request = plainToInstance(metatype as Type<object>, sent);
    const broken = await validate(request, OPTIONS[type]);
    const errors = broken.slice(0, MOST_FIELD_ERRORS).map((error) => fieldError(error, metatype));
    const missing = missingAll(metatype, sent);
    if (missing) errors.push(missing);
    if (errors.length > 0) throw InvalidRequest.fields(errors);
    return request;
  }
}

function objectIn(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidRequest('The body must be a JSON object.');
  }
  assertShallow(body);
  return body as Record<string, unknown>;
}

function fieldError({ property, constraints = {} }: ValidationError, type: Type): FieldError {
  const [broken] = Object.entries(constraints);
  if (!broken || broken[0] === 'whitelistValidation') {
    const field = property.slice(0, LONGEST_NAME);
    return { field, code: 'unknown_field', message: unknownField(field, type) };
  }
  return { field: property, code: broken[0] as FieldErrorCode, message: broken[1] };
}

function unknownField(field: string, type: Type): string {
  return `${JSON.stringify(field)} is not a field of this body. Its fields are: ${fieldsOf(type).join(', ')}.`;
}

function fieldsOf(type: Type): string[] {
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(type, '', false, false);
  return Object.keys(storage.groupByPropertyName(rules));
}
