import { ApiError } from './errors.js';
import { errorDetails, sendOnce, type HttpRequest, type HttpResponse } from './http.js';
import { OPERATIONS, type operations } from './operations.js';
import { randomText } from './random.js';
import { withRetries } from './retry.js';
import type { CallOptions, Settings } from './settings.js';
import { accessToken, type TokenStore } from './tokens.js';

export type OperationId = keyof typeof OPERATIONS;

/** The parameters of an operation by name, and its body as `body`. */
export type Params<Id extends OperationId> = Part<operations[Id]['parameters'], 'path'> &
  Part<operations[Id]['parameters'], 'query'> &
  (operations[Id] extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { body: Body }
    : unknown);

type Part<Parameters, Place extends string> = Parameters extends { [P in Place]?: infer Values }
  ? [NonNullable<Values>] extends [never]
    ? unknown
    : NonNullable<Values>
  : unknown;

/** What an operation returns. */
export type Result<Id extends OperationId> = JsonOf<operations[Id]['responses']>;

type JsonOf<Responses> = {
  [Status in keyof Responses]: Responses[Status] extends {
    content: { 'application/json': infer Json };
  }
    ? Json
    : never;
}[keyof Responses];

/** A list: a promise of one page, and an iterable of the items of this page and all later ones. */
export type List<Page> = Promise<Page> &
  AsyncIterable<Page extends { data: readonly (infer Item)[] } ? Item : never>;

export interface ApiCallOptions extends CallOptions {
  /** For POST: within 24 hours, the same key and body create one item. Random by default, and the same for all retries. */
  idempotencyKey?: string | undefined;
}

type Call<Id extends OperationId> = (
  ...args: unknown extends Params<Id>
    ? [params?: Record<string, never>, options?: ApiCallOptions]
    : Partial<Params<Id>> extends Params<Id>
      ? [params?: Params<Id>, options?: ApiCallOptions]
      : [params: Params<Id>, options?: ApiCallOptions]
) => (typeof OPERATIONS)[Id] extends readonly [string, string, 'list']
  ? List<Result<Id>>
  : Promise<Result<Id>>;

/**
 * One method for each operation of the API.
 *
 * All throw ApiError, AuthorizationRequiredError, NoResponseError, OAuthError if a refresh fails, TypeError for an invalid id or
 * setting, and the reason of an aborted `signal`.
 */
export type Client = { readonly [Id in keyof typeof OPERATIONS]: Call<Id> };

/** A client that acts for the user of `store`. Refreshes the tokens when necessary. */
export function createClient(settings: Settings, store: TokenStore): Client {
  const methods = Object.entries(OPERATIONS).map(([id, [method, template, kind]]) => [
    id,
    (params: Record<string, unknown> = {}, options: ApiCallOptions = {}) => {
      const request = requestOf(method, template, params, options);
      return kind === 'list'
        ? list(request, options)
        : request.then((one) => send(one, options)).then(bodyOf);
    },
  ]);
  return Object.fromEntries(methods) as Client;

  async function send(request: HttpRequest, options: CallOptions): Promise<HttpResponse> {
    const token = await accessToken(settings, store, options);
    try {
      return await sendWith(token, request, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_token') throw error;
      // Revoked, or this clock is wrong. A second rejection has another cause.
      const next = await accessToken(settings, store, options, token);
      return sendWith(next, request, options);
    }
  }

  function sendWith(
    token: string,
    request: HttpRequest,
    options: CallOptions,
  ): Promise<HttpResponse> {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    return withRetries(settings, options.signal, async () => {
      const response = await sendOnce(settings, { ...request, headers }, options);
      if (response.status >= 200 && response.status < 300 && response.body) return response;
      const challenge = response.headers.get('www-authenticate') ?? '';
      throw new ApiError(errorDetails(response), response.body, challenge);
    });
  }

  function list(request: Promise<HttpRequest>, options: CallOptions): List<unknown> {
    const first = request.then((one) => send(one, options));
    const pages = async function* (): AsyncGenerator {
      let page = await first;
      for (;;) {
        yield* bodyOf(page).data as unknown[];
        const next = nextQuery(page);
        if (next === undefined) return;
        const { path, ...rest } = await request;
        page = await send({ ...rest, path: path.replace(/\?.*|$/, next) }, options);
      }
    };
    const result = first.then(bodyOf);
    // Iteration reports the error; without this line, Node would exit because nothing awaits this promise.
    result.catch(() => undefined);
    return Object.assign(result, { [Symbol.asyncIterator]: pages }) as List<unknown>;
  }
}

function bodyOf({ body = {} }: HttpResponse): Record<string, unknown> {
  return body;
}

/** Asynchronous, so that an invalid id rejects the promise of the call. */
async function requestOf(
  method: string,
  template: string,
  { body, ...parameters }: Record<string, unknown>,
  { idempotencyKey = randomText() }: ApiCallOptions,
): Promise<HttpRequest> {
  const inPath = new Set<string>();
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    inPath.add(name);
    return pathSegment(name, parameters[name]);
  });
  const query = new URLSearchParams(
    Object.entries(parameters)
      .filter(([name, value]) => !inPath.has(name) && value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
  return {
    method,
    path: [path, ...(String(query) === '' ? [] : [query])].join('?'),
    headers: {
      accept: 'application/json',
      ...(method === 'POST' && {
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}

/** @throws TypeError if the value would lead to another path */
function pathSegment(name: string, value: unknown): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
    throw new TypeError(`${name} must be an id.`);
  return encodeURIComponent(value);
}

/** The query of the next page (RFC 8288). The path and host stay the same, so that the token goes to no other server. */
function nextQuery({ headers }: HttpResponse): string | undefined {
  return /<[^>?]*(\?[^>]*)>;[^<]*\brel="next"/.exec(headers.get('link') ?? '')?.[1];
}
