export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** An answer, as far as the next request depends on it. */
export interface LoadAnswer {
  body: string;
  link?: string;
}

/** Where a generator of load gets its requests from. */
export type Requests =
  /** Some that each connection sends again and again, in an order of its own. */
  | { kind: 'repeated'; requests: readonly LoadRequest[] }
  /** One after the other, each once, whichever connection is free. */
  | { kind: 'once'; next: () => LoadRequest }
  /** Each of a connection after the answer to the one before it, on so many connections. */
  | {
      kind: 'chain';
      connections: number;
      first: () => LoadRequest;
      following: (answer: LoadAnswer, before: LoadRequest) => LoadRequest;
    };

/** What a generator of load saw. */
export interface Measurement {
  /** Answers a second, all of them 2xx. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}
