import type { DeclaredResponse, Header, OpenApiDocument, Place, Schema } from './document.js';
import { placesOf } from './document.js';
import { schemaChecks, type Check } from './schemas.js';

/** An answer as it left the service. */
export interface Answer {
  /** Of the request. */
  method: string;
  /** Of the request, still encoded, without the query. */
  path: string;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Verdict {
  /** Null when no operation of the document has this path and method. */
  operationId: string | null;
  violations: string[];
}

/**
 * Headers that tell something to a client of the API. Whatever else comes along is HTTP's, a browser's (CORS, policies) or a
 * proxy's. An ETag counts where it is declared only: Express puts one on every body, which promises nothing on a POST.
 */
const TELLING = [
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

/** Holds answers against the published document: their status, headers and body. */
export class AnswerCheck {
  private readonly places: readonly (Place & { pattern: RegExp })[];
  private readonly checkOf: (schema: Schema) => Check;

  constructor(document: OpenApiDocument) {
    this.checkOf = schemaChecks(document, { closed: true });
    this.places = placesOf(document).map((place) => ({ ...place, pattern: patternOf(place.path) }));
  }

  check(answer: Answer): Verdict {
    const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase();
    const place = this.places.find((one) => one.method === method && one.pattern.test(answer.path));
    if (!place) return { operationId: null, violations: [] };
    const { operationId, responses } = place.operation;
    const declared = responses[answer.status];
    const problems = declared
      ? [...this.headerProblems(answer, declared), ...this.bodyProblems(answer, declared)]
      : ['the status is not declared'];
    const violations = problems.map((problem) => `${operationId} ${answer.status}: ${problem}`);
    return { operationId, violations };
  }

  private headerProblems({ headers }: Answer, declared: DeclaredResponse): string[] {
    const declaredHeaders = Object.entries(declared.headers ?? {});
    const names = new Set(declaredHeaders.map(([name]) => name.toLowerCase()));
    return [
      ...declaredHeaders.flatMap(([name, header]) =>
        this.valueProblems(name, header, headers[name.toLowerCase()]),
      ),
      ...TELLING.filter((name) => name in headers && !names.has(name)).map(
        (name) => `the header ${name} is not declared`,
      ),
    ];
  }

  private valueProblems(name: string, { required, schema }: Header, value?: string): string[] {
    if (value === undefined) return required ? [`the header ${name} is missing`] : [];
    const typed = schema.type === 'integer' && /^-?\d+$/.test(value) ? Number(value) : value;
    return this.checkOf(schema)(typed).map((problem) => `the header ${name}: ${problem}`);
  }

  private bodyProblems({ method, headers, body }: Answer, declared: DeclaredResponse): string[] {
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
