/** What happens to a request: the service loses its response, it never arrives, or a proxy responds itself. */
type Fault = 'response lost' | 'request lost' | Response;

/** A `fetch` of a test app that records requests, and loses or replaces those that a test chooses. */
export class UnreliableNetwork {
  /** Method and path of each request, in order. */
  readonly requests: string[] = [];
  /** The `Idempotency-Key` of each request that has one. */
  readonly keys: string[] = [];
  private readonly faults: { pattern: RegExp; fault: Fault }[] = [];
  private delayMs = 0;

  /** The next request that matches has this fault. Faults for the same requests apply one after the other. */
  fail(pattern: RegExp, ...faults: Fault[]): void {
    for (const fault of faults) this.faults.push({ pattern, fault });
  }

  /** Delays every request. */
  slow(milliseconds: number): void {
    this.delayMs = milliseconds;
  }

  /** The number of requests that match. */
  count(pattern: RegExp): number {
    return this.requests.filter((request) => pattern.test(request)).length;
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const line = `${init?.method ?? 'GET'} ${url.pathname}${url.search}`;
    this.requests.push(line);
    const key = new Headers(init?.headers).get('idempotency-key');
    if (key !== null) this.keys.push(key);
    await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const index = this.faults.findIndex(({ pattern }) => pattern.test(line));
    const fault = index === -1 ? undefined : this.faults.splice(index, 1)[0]?.fault;
    if (fault instanceof Response) return fault;
    if (fault === 'request lost') throw new TypeError('fetch failed');
    const headers = new Headers(init?.headers);
    if (fault === 'response lost') headers.set('test-fault', 'lost_response');
    return fetch(input, { ...init, headers });
  };
}

/** An error as a load balancer sends it. */
export function unavailable(retryAfter?: string, status = 503): Response {
  const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
  return new Response('<h1>Service Unavailable</h1>', { status, headers });
}
