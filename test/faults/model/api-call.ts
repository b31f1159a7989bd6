import { linksOf } from '../../support/api.js';
import { type ErrorBody, json } from '../../support/responses.js';
import type { Scope } from '../../../src/platform/access/scopes.js';

export const PEOPLE = ['Ana', 'Ben', 'Cleo'] as const;
export type PersonName = (typeof PEOPLE)[number];

export const APPS = ['Garden', 'Street'] as const;
export type AppName = (typeof APPS)[number];

/** A person and the app that acts for them. */
export interface Actor {
  person: PersonName;
  app: AppName;
}

export type Body = Readonly<Record<string, unknown>>;

/** A call of the developer API. */
export interface Call {
  caller: Actor;
  method: 'GET' | 'POST' | 'DELETE';
  /** Under `/dev/v1`, with its query. */
  path: string;
  body?: Body;
  /** The `Idempotency-Key`. */
  key?: string;
}

/** The parts of a response that the model predicts. */
export interface Result {
  status: number;
  /** Body of a success. */
  body?: Readonly<Record<string, unknown>>;
  /** Error code. */
  error?: string;
  /** Field errors, each `field code`, sorted. */
  problems?: readonly string[];
  /** By lower-case name. */
  headers?: Readonly<Record<string, string>>;
  /** Pagination links of a list by relation. */
  links?: Readonly<Record<string, string>>;
}

const CHECKED_HEADERS = [
  'location',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
];

export async function resultOf(response: Response): Promise<Result> {
  const headers = CHECKED_HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    // The URL of the metadata, which every challenge has, depends on the port.
    return value === null
      ? []
      : [[name, value.replace(/, resource_metadata="[^"]*"/, '')] as const];
  });
  const links = linksOf(response);
  const result = {
    status: response.status,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(Object.keys(links).length > 0 && { links }),
  };
  if (response.status < 400) return { ...result, body: await json(response) };
  const { error, errors } = await json<ErrorBody>(response);
  const problems = errors?.map(({ field, code }) => `${field} ${code}`.trim()).toSorted();
  return { ...result, error, ...(problems && { problems }) };
}

export function ok(body: Result['body']): Result {
  return { status: 200, body };
}

export function rejected(status: number, error: string): Result {
  return { status, error };
}

/** @param problems each `field code` */
export function invalid(problems: readonly string[]): Result {
  return { ...rejected(400, 'invalid_request'), problems: problems.toSorted() };
}

export function missingScope(scope: Scope): Result {
  const challenge = `Bearer realm="dev", error="insufficient_scope", error_description="The access token lacks the scope ${scope}", scope="${scope}"`;
  return withHeaders(rejected(403, 'insufficient_scope'), { 'www-authenticate': challenge });
}

export function withHeaders(result: Result, headers: Record<string, string>): Result {
  const all = { ...result.headers, ...headers };
  return Object.keys(all).length > 0 ? { ...result, headers: all } : result;
}
