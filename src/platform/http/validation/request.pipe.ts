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
import { checkAtLeastOneOf } from './fields.js';

const MAX_DEPTH = 20;

/**
 * Protects recursive library code. Rejects bodies deeper than 20 levels, and nested members with names of `Object.prototype`, which
 * libraries call or drop. Iterative, so that depth cannot overflow the stack.
 * @throws InvalidRequest
 */
function assertMaxDepth(body: object): void {
  const pending: { value: object; depth: number }[] = [{ value: body, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
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
        pending.push({ value: member, depth: depth + 1 });
    }
  }
}

/** Errors truncate unknown names to this length. */
const MAX_NAME_LENGTH = 50;

const OPTIONS: ValidatorOptions = { forbidUnknownValues: true, stopAtFirstError: true };

/**
 * Converts bodies and queries to their request classes and validates them. Reports all violations at once, in this order: declared
 * fields, rules between fields, unknown fields, headers. Rejects unknown fields of a body, which are probably typos; ignores unknown
 * and empty query parameters.
 * @throws InvalidRequest with one entry per invalid field, at most 20
 */
@Injectable()
export class RequestPipe implements PipeTransform {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    const sent = type === 'body' ? objectIn(value) : withoutEmpty(value as Record<string, unknown>);
    const fields = fieldsOf(metatype);
    const request = plainToInstance(metatype as Type<object>, pick(fields, sent));
    const invalid = (await validate(request, OPTIONS)).map(fieldError);
    const unknown = type === 'body' ? unknownFields(sent, fields) : [];
    const missing = checkAtLeastOneOf(metatype, sent, invalid);
    const headers = currentRequest()?.violations ?? [];
    const errors = [...invalid, ...missing, ...unknown, ...headers];
    if (errors.length > 0) throw InvalidRequest.fields(errors);
    return request;
  }
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.every((each) => each === '') : value === '';
}

/** HTML forms and query builders send an empty parameter for a field that is not filled in. */
function withoutEmpty(query: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => !isEmpty(value)));
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

/** The fields of a request class in declaration order. */
function fieldsOf(type: Type): readonly string[] {
  const cached = fieldsByType.get(type);
  if (cached) return cached;
  const storage = getMetadataStorage();
  const always = false;
  const strictGroups = false;
  const rules = storage.getTargetValidationMetadatas(type, '', always, strictGroups);
  const fields = Object.keys(storage.groupByPropertyName(rules));
  fieldsByType.set(type, fields);
  return fields;
}

const fieldsByType = new WeakMap<Type, readonly string[]>();

/** Removes unknown fields first, because the time of the libraries grows with the square of the number of members. */
function pick(fields: readonly string[], sent: Record<string, unknown>): Record<string, unknown> {
  const known = fields.filter((name) => Object.hasOwn(sent, name));
  return Object.fromEntries(known.map((name) => [name, sent[name]]));
}

function unknownFields(sent: Record<string, unknown>, fields: readonly string[]): FieldError[] {
  return Object.keys(sent)
    .filter((name) => !fields.includes(name))
    .slice(0, MAX_FIELD_ERRORS + 1)
    .map((name) => {
      const field = truncate(name);
      const suggestion = nearestWord(field, fields);
      const hint = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`;
      const message = `${JSON.stringify(field)} is not a field of this body.${hint} Its fields are: ${fields.join(', ')}.`;
      return { field, code: 'unknown_field', message };
    });
}

/** Truncates a name to `MAX_NAME_LENGTH` code points, and replaces lone surrogates. */
function truncate(name: string): string {
  const start = name.slice(0, 2 * MAX_NAME_LENGTH).toWellFormed();
  return Array.from(start).slice(0, MAX_NAME_LENGTH).join('');
}
