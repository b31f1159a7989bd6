export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The parts of a response that the next request depends on. */
export interface LoadResponse {
  body: string;
  link?: string;
}

/** The requests of a load generator. */
export type Requests =
  /** Each connection repeats these requests in random order. */
  | { kind: 'repeated'; requests: readonly LoadRequest[] }
  /** Each request is sent once, by any connection. */
  | { kind: 'once'; next: () => LoadRequest }
  /** Each request of a connection depends on the previous response. */
  | {
      kind: 'chain';
      connections: number;
      first: () => LoadRequest;
      following: (response: LoadResponse, previous: LoadRequest) => LoadRequest;
    };

/** The result of a load generator. */
export interface Measurement {
  /** Responses per second; all of them are 2xx. */
  rate: number;
  /** Latency in milliseconds. */
  p50: number;
  p99: number;
}
