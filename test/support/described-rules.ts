import { isBlank } from '../../src/platform/text.js';
import type { Schema } from './published-document.js';

/*
 * Rules of the service that the OpenAPI document states in descriptions instead of schemas, because generators and validators read
 * the schemas of such rules differently.
 */

/** Text fields are not blank, on one line, and without control characters. */
export function isReadable(text: string): boolean {
  return !isBlank(text) && text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text);
}

type Fields = Readonly<Record<string, unknown>>;

interface FieldRule {
  /** The rule applies to request bodies with all of these fields. */
  fields: readonly string[];
  holds: (body: Fields) => boolean;
}

const FIELD_RULES: readonly FieldRule[] = [
  {
    fields: ['title', 'content', 'images', 'visibility'],
    holds: ({ title, content, images }) => [title, content, images].some(isSupplied),
  },
  {
    fields: ['latitude', 'longitude', 'visibility'],
    holds: ({ latitude, longitude }) => isSupplied(latitude) === isSupplied(longitude),
  },
  { fields: ['grant_type', 'code', 'refresh_token'], holds: hasParametersOfGrant },
];

/** Whether a value keeps the rules between the fields of its schema. */
export function describedRulesHold({ properties = {} }: Schema, value: unknown): boolean {
  return FIELD_RULES.filter(({ fields }) => fields.every((field) => field in properties)).every(
    ({ holds }) => holds(value as Fields),
  );
}

function isSupplied(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** An empty parameter counts as omitted (RFC 6749 §3.2). */
function hasParametersOfGrant({ grant_type, code, redirect_uri, refresh_token }: Fields): boolean {
  const required = grant_type === 'refresh_token' ? [refresh_token] : [code, redirect_uri];
  return required.every((parameter) => isSupplied(parameter) && parameter !== '');
}
