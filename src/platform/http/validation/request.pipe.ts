import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  validate,
  type ValidationError,
  type ValidatorOptions,
} from 'class-validator';
import { currentRequest } from '../../request-context.js';
import {
  type FieldError,
  type FieldErrorCode,
  InvalidRequest,
  MAX_FIELD_ERRORS,
} from '../../errors.js';
import { nearestWord } from '../../text.js';
import { checkAtLeastOneOf } from './request-schema.js';

const MAX_DEPTH = 20;

/**
 * Refuses what later, recursive code could not take: bodies nested deeper than 20 levels, and inside of fields members
 * that are named like what every object inherits, which libraries call or drop. Walks without recursion.
 * @throws InvalidRequest
 */
export function assertMaxDepth(body: object): void {
  const open: { value: object; depth: number }[] = [{ value: body, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (depth > MAX_DEPTH) {
      throw InvalidRequest.field(
        '',
        'too_deep',
        `The body must not be nested deeper than ${MAX_DEPTH} levels.`,
      );
    }
    for (const [name, member] of Object.entries(value)) {
      if (depth > 1 && (name in Object.prototype || name === 'prototype')) {
        throw InvalidRequest.field(name, 'unknown_field', `"${name}" is not a field of this body.`);
      }
      if (typeof member === 'object' && member !== null)
        open.push({ value: member, depth: depth + 1 });
    }
  }
}

/** Unknown names are repeated in errors up to this length. */
const MAX_NAME_LENGTH = 50;

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
    const missing = checkAtLeastOneOf(metatype, sent, broken);
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
  assertMaxDepth(body);
  return body as Record<string, unknown>;
}

function fieldError({ property, constraints = {} }: ValidationError): FieldError {
  const [[code, message] = ['invalid_format', `${property} is not valid.`]] =
    Object.entries(constraints);
  return { field: property, code: code as FieldErrorCode, message };
}

/** The members of a request class, in its order. */
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
    .slice(0, MAX_FIELD_ERRORS + 1)
    .map((name) => {
      const field = shortened(name);
      const meant = nearestWord(field, fields);
      const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
      const message = `${JSON.stringify(field)} is not a field of this body.${hint} Its fields are: ${fields.join(', ')}.`;
      return { field, code: 'unknown_field', message };
    });
}

/** Its beginning; half a surrogate pair, which some programs cannot read, is replaced. */
function shortened(name: string): string {
  const start = name.slice(0, 2 * MAX_NAME_LENGTH).toWellFormed();
  return Array.from(start).slice(0, MAX_NAME_LENGTH).join('');
}
