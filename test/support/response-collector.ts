import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { validateFraming } from '../../src/platform/http/server/express-server.js';
import {
  type Check,
  type DeclaredResponse,
  type Header,
  type OpenApiDocument,
  type OperationEntry,
  operationEntries,
  publishedDocument,
  type Schema,
  schemaChecks,
} from './published-document.js';

/** The number of checked responses by `operation status`; `-` counts responses of no documented operation. */
export type ResponseCounts = Record<string, number>;

declare module 'vitest' {
  interface TaskMeta {
    responses?: ResponseCounts;
  }
}

/** The key for responses of no documented operation: pages, documentation, unknown paths and methods. */
export const UNDOCUMENTED = '-';

/** Adds `counts` to `total`. */
export function addCounts(total: ResponseCounts, counts: ResponseCounts = {}): ResponseCounts {
  for (const [key, count] of Object.entries(counts)) total[key] = (total[key] ?? 0) + count;
  return total;
}

/** A response as the service sent it. */
export interface CollectedResponse {
  /** The method of the request. */
  method: string;
  /** The encoded path of the request, without the query. */
  path: string;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Verdict {
  /** Null when the document has no operation for this path and method. */
  operationId: string | null;
  violations: string[];
}

/**
 * Headers of the API, which must be documented. Others belong to HTTP, browsers (CORS, policies) or proxies. `ETag` is checked
 * only where it is declared, because Express sends one with every body.
 */
const CHECKED_HEADERS = [
  'x-request-id',
  'location',
  'link',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
  'allow',
  'cache-control',
  'idempotency-replayed',
  'deprecation',
  'sunset',
];

/** Checks the status, headers and body of responses against the published document. */
export class ResponseCheck {
  private readonly entries: readonly (OperationEntry & { pattern: RegExp })[];
  private readonly checkOf: (schema: Schema) => Check;

  constructor(document: OpenApiDocument) {
    this.checkOf = schemaChecks(document, { allowUnknown: false });
    this.entries = operationEntries(document).map((entry) => ({
      ...entry,
      pattern: patternOf(entry.path),
    }));
  }

  check(response: CollectedResponse): Verdict {
    const method = response.method === 'HEAD' ? 'get' : response.method.toLowerCase();
    const entry = this.entries.find(
      (one) => one.method === method && one.pattern.test(response.path),
    );
    if (!entry) return { operationId: null, violations: [] };
    const { operationId, responses } = entry.operation;
    const declared = responses[response.status];
    const problems = declared
      ? [...this.headerProblems(response, declared), ...this.bodyProblems(response, declared)]
      : ['the status is not declared'];
    const violations = problems.map((problem) => `${operationId} ${response.status}: ${problem}`);
    return { operationId, violations };
  }

  private headerProblems({ headers }: CollectedResponse, declared: DeclaredResponse): string[] {
    const declaredHeaders = Object.entries(declared.headers ?? {});
    const names = new Set(declaredHeaders.map(([name]) => name.toLowerCase()));
    return [
      ...declaredHeaders.flatMap(([name, header]) =>
        this.valueProblems(name, header, headers[name.toLowerCase()]),
      ),
      ...CHECKED_HEADERS.filter((name) => name in headers && !names.has(name)).map(
        (name) => `the header ${name} is not declared`,
      ),
    ];
  }

  private valueProblems(name: string, { required, schema }: Header, value?: string): string[] {
    if (value === undefined) return required ? [`the header ${name} is missing`] : [];
    const typed = schema.type === 'integer' && /^-?\d+$/.test(value) ? Number(value) : value;
    return this.checkOf(schema)(typed).map((problem) => `the header ${name}: ${problem}`);
  }

  private bodyProblems(
    { method, headers, body }: CollectedResponse,
    declared: DeclaredResponse,
  ): string[] {
    if (method === 'HEAD') return [];
    if (!declared.content) return body === '' ? [] : ['a body is not declared'];
    const type = headers['content-type']?.split(';')[0]?.trim() ?? 'none';
    const media = declared.content[type];
    if (!media) return [`the content type ${type} is not declared`];
    if (type !== 'application/json') return [];
    const value = parsed(body);
    return value === undefined
      ? ['the body is not JSON']
      : this.checkOf(media.schema)(value).map((problem) => `the body at ${problem}`);
  }
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((part) => (part.startsWith('{') ? '[^/]+' : escaped(part)));
  return new RegExp(`^${segments.join('/')}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** Checks responses against the published document. Keeps the violations and the numbers of responses until they are taken. */
class Collector {
  private readonly responseCheck = new ResponseCheck(publishedDocument());
  private counts: ResponseCounts = {};
  private violations: string[] = [];

  add(response: CollectedResponse): void {
    const { operationId, violations } = this.responseCheck.check(response);
    const key = operationId === null ? UNDOCUMENTED : `${operationId} ${response.status}`;
    this.counts[key] = (this.counts[key] ?? 0) + 1;
    this.violations.push(
      ...violations.map((violation) => `${violation} (${response.method} ${response.path})`),
    );
  }

  takeCounts(): ResponseCounts {
    const taken = this.counts;
    this.counts = {};
    return taken;
  }

  takeViolations(): string[] {
    return this.violations.splice(0);
  }
}

export const collector = new Collector();

/** Checks each response of a server in its call of `end`, before the client can receive all of it and the test can end. */
export function collectFrom(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // The server rejects invalid framing itself, before the API sees the request.
    if (validateFraming(request)) return;
    const chunks: Buffer[] = [];
    const collectChunk = (chunk: unknown, encoding: unknown): void => {
      if (typeof chunk === 'string')
        chunks.push(
          Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'),
        );
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    };
    const write = response.write.bind(response);
    const end = response.end.bind(response);
    response.write = ((...parameters: Parameters<typeof write>) => {
      collectChunk(parameters[0], parameters[1]);
      return write(...parameters);
    }) as typeof write;
    response.end = ((...parameters: Parameters<typeof end>) => {
      collectChunk(parameters[0], parameters[1]);
      const ended = end(...parameters);
      collector.add({
        method: request.method ?? '',
        path: (request.url ?? '').split('?')[0] ?? '',
        status: response.statusCode,
        headers: headersOf(response),
        // Node sends no body in these cases.
        body: hasNoBody(request, response) ? '' : Buffer.concat(chunks).toString(),
      });
      return ended;
    }) as typeof end;
  });
}

/** The origins of service processes. Their responses are checked in `fetch`. */
const processes = new Set<string>();
let isFetchWrapped = false;

/** Checks the responses that `fetch` gets from a service process, until the process ends. */
export function collectFromProcess(baseUrl: string, ended: Promise<unknown>): void {
  const { origin: service } = new URL(baseUrl);
  // Another program may listen on this port next.
  void ended.then(() => processes.delete(service));
  if (!isFetchWrapped) {
    isFetchWrapped = true;
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { origin, pathname: path } = new URL(response.url);
      if (!processes.has(origin)) return response;
      // A test may abort the request. Incomplete responses are not checked.
      const body = await response
        .clone()
        .text()
        .catch(() => null);
      const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
      const headers = Object.fromEntries(response.headers);
      if (body !== null) collector.add({ method, path, status: response.status, headers, body });
      return response;
    };
  }
  processes.add(service);
}

function hasNoBody({ method }: IncomingMessage, { statusCode }: ServerResponse): boolean {
  return method === 'HEAD' || statusCode === 204 || statusCode === 304;
}

function headersOf(response: ServerResponse): Record<string, string> {
  return Object.fromEntries(
    Object.entries(response.getHeaders()).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}
