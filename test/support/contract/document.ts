import { readFileSync } from 'node:fs';

/** A JSON Schema of the document, as far as tests look into it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  pattern?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}

export interface Header {
  required?: boolean;
  schema: Schema;
}

export interface Parameter extends Header {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
}

export interface MediaType {
  schema: Schema;
  examples?: Record<string, { value: unknown }>;
}

export interface DeclaredResponse {
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, DeclaredResponse>;
}

export interface OpenApiDocument {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    parameters: Record<string, Parameter>;
  };
}

/** An operation and where it is. */
export interface Place {
  /** As the document writes it, in lower case. */
  method: string;
  /** With its parameters in braces. */
  path: string;
  operation: Operation;
}

const COMMITTED = new URL('../../../openapi/openapi.json', import.meta.url);

/** The committed document, dereferenced. */
export function publishedDocument(): OpenApiDocument {
  return dereferenced(JSON.parse(readFileSync(COMMITTED, 'utf8')) as OpenApiDocument);
}

/** Every operation, in the order of the document. */
export function placesOf(document: OpenApiDocument): Place[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

/** The document with every reference but those to schemas replaced by what it names. */
export function dereferenced(document: OpenApiDocument): OpenApiDocument {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) => {
    const [, kind, name = ''] =
      /^#\/components\/(headers|parameters)\/(.+)$/.exec(reference(value)) ?? [];
    return kind === undefined ? value : document.components[kind as 'headers'][name];
  }) as OpenApiDocument;
}

function reference(value: unknown): string {
  return typeof value === 'object' && value !== null && '$ref' in value ? String(value.$ref) : '';
}
