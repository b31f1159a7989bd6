import * as fc from 'fast-check';
import { SEED } from '../../support/arbitraries.js';
import {
  type MediaType,
  type OpenApiDocument,
  type OperationEntry,
  operationEntries,
  type Schema,
} from '../../support/published-document.js';
import { isForm, RequestArbitraries } from '../../support/request-arbitraries.js';

const JSON_TYPE = 'application/json';
/** Schemas limit the length of longer texts. */
const MAX_SHORT_LENGTH = 25;

/** An example of the document for the body of a request, or of a response with this status. */
export interface Example {
  operationId: string;
  part: 'body' | (string & {});
  value: unknown;
}

/** All JSON examples of the document. Bodies without one get the examples of their fields. */
export function examplesOf(document: OpenApiDocument): Example[] {
  const values = ({ schema, examples }: MediaType): unknown[] =>
    examples ? Object.values(examples).map(({ value }) => value) : [exampleOf(document, schema)];
  return operationEntries(document).flatMap(({ operation }) => {
    const { operationId, requestBody, responses } = operation;
    const parts: Record<string, { content?: Record<string, MediaType> }> = {
      ...responses,
      ...(requestBody && { body: requestBody }),
    };
    return Object.entries(parts).flatMap(([part, { content = {} }]) => {
      const { [JSON_TYPE]: media } = content;
      return media ? values(media).map((value) => ({ operationId, part, value })) : [];
    });
  });
}

/** Composes an example from those of the fields. Omits fields without one. */
function exampleOf({ components, ...document }: OpenApiDocument, schema: Schema): unknown {
  const { $ref, type, example, items, properties = {}, enum: values } = schema;
  const nested = (one: unknown): unknown => exampleOf({ ...document, components }, one as Schema);
  if ($ref !== undefined) return nested(components.schemas[$ref.split('/').at(-1) ?? '']);
  if (example !== undefined) return example;
  if (Array.isArray(values)) return values[0];
  if (items !== undefined) return [nested(items)];
  if (type !== 'object') return undefined;
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, nested(one)]));
}

/** Generates bodies of the operation that the service accepts: objects, or the fields of a form. */
export function validBodies(
  document: OpenApiDocument,
  entry: OperationEntry,
  numRuns: number,
): unknown[] {
  const known = { parentId: fc.constantFrom('cmt_01kahq5f3veqdr8bn3tdmx3q0a', null) };
  const requests = new RequestArbitraries(document, known, 'token').valid(entry);
  return fc
    .sample(requests, { seed: SEED, numRuns })
    .map(({ body = '' }) =>
      isForm(entry)
        ? Object.fromEntries(new URLSearchParams(body))
        : (JSON.parse(body, shortInUtf16) as unknown),
    );
}

/**
 * Replaces the characters outside of the Basic Multilingual Plane in long texts. Lengths in JSON Schema count code points, but zod
 * and valibot count UTF-16 code units, so they reject some long texts.
 */
function shortInUtf16(_name: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_SHORT_LENGTH
    ? value.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '☺')
    : value;
}
