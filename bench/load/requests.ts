/** Number of connections of a load, except that of a chain with fewer. */
export const CONNECTIONS = 32;

export interface LoadRequest {
  method: 'GET' | 'POST' | 'DELETE';
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
  responses: number;
  /** Responses per second. */
  rate: number;
  /** Latency in milliseconds. */
  p50: number;
  p99: number;
}

/** A copy in random order. */
export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, position: Math.random() }))
    .toSorted((left, right) => left.position - right.position)
    .map(({ item }) => item);
}
