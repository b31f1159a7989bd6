import { Injectable, type ArgumentMetadata, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  validate,
  type ValidationError,
  type ValidatorOptions,
} from 'class-validator';
import { currentRequest } from '../common/current-request.js';
import {
  InvalidRequest,
  MOST_FIELD_ERRORS,
  type FieldError,
  type FieldErrorCode,
} from '../common/errors.js';
import { nearestWord } from '../common/nearest-word.js';
import { missingAll } from './at-least-one-of.decorator.js';
import { assertShallow } from './shallow.js';

/** A name that somebody made up is told back this far. */
const LONGEST_NAME = 50;

const OPTIONS: ValidatorOptions = { forbidUnknownValues: true, stopAtFirstError: true };

/**
 * Turns bodies and queries into their request classes and reports every violation at once: first of the declared fields,
 * in their order, and of all together, then what is no field, then headers. A body may hold only what its class declares,
 * since a typo must not be published; of a query, the rest is ignored.
 * @throws InvalidRequest with one entry per broken field
 */
@Injectable()
export class RequestPipe implements PipeTransform {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    const sent = type === 'body' ? objectIn(value) : (value as Record<string, unknown>);
    const fields = fieldsOf(metatype);
    const request = plainToInstance(metatype as Type<object>, only(fields, sent));
    const broken = (await validate(request, OPTIONS)).map(fieldError);
    const unknown = type === 'body' ? unknownFields(sent, fields) : [];
    const missing = missingAll(metatype, sent, broken);
    const ofHeaders = currentRequest()?.violations ?? [];
    const errors = [...broken, ...missing, ...unknown, ...ofHeaders];
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

function fieldError({ property, constraints = {} }: ValidationError): FieldError {
  const [[code, message] = ['invalid_format', `${property} is not valid.`]] =
    Object.entries(constraints);
  return { field: property, code: code as FieldErrorCode, message };
}

/** What a request class declares, in its order. */
function fieldsOf(type: Type): readonly string[] {
  const known = declared.get(type);
  if (known) return known;
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(type, '', false, false);
  const fields = Object.keys(storage.groupByPropertyName(rules));
  declared.set(type, fields);
  return fields;
}

const declared = new WeakMap<Type, readonly string[]>();

/** The libraries see nothing else: their time grows with the square of the members. */
function only(fields: readonly string[], sent: Record<string, unknown>): Record<string, unknown> {
  const known = fields.filter((name) => Object.hasOwn(sent, name));
  return Object.fromEntries(known.map((name) => [name, sent[name]]));
}

function unknownFields(sent: Record<string, unknown>, fields: readonly string[]): FieldError[] {
  return Object.keys(sent)
    .filter((name) => !fields.includes(name))
    .slice(0, MOST_FIELD_ERRORS + 1)
    .map((name) => {
      const field = told(name);
      const meant = nearestWord(field, fields);
      const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
      const message = `${JSON.stringify(field)} is not a field of this body.${hint} Its fields are: ${fields.join(', ')}.`;
      return { field, code: 'unknown_field', message };
    });
}

/** Its beginning; half a surrogate pair, which some programs cannot read, is replaced. */
function told(name: string): string {
  const start = name.slice(0, 2 * LONGEST_NAME).toWellFormed();
  return Array.from(start).slice(0, LONGEST_NAME).join('');
}
