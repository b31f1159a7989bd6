import { accessToken } from '../credentials.js';
import { busyPost, type Size } from './fill.js';

/** One request of user 0. It may store ids for later operations. */
export interface Operation {
  name: string;
  send: (api: Api) => Promise<unknown>;
}

/** A client of the service that calls as user 0. */
export class Api {
  /** Ids that earlier operations created, for later operations to delete. */
  readonly posts: string[] = [];
  readonly comments: string[] = [];
  readonly busyPost: string;

  constructor(
    private readonly baseUrl: string,
    size: Size,
  ) {
    this.busyPost = busyPost(size);
  }

  /** Sends one request. @throws if the response is not 2xx */
  async send(method: string, path: string, body?: object): Promise<Response> {
    const response = await fetch(`${this.baseUrl}/dev/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${accessToken(0)}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async json<T>(method: string, path: string, body?: object): Promise<T> {
    return (await (await this.send(method, path, body)).json()) as T;
  }
}

/** All operations of the API. The last two delete what the two before them created. */
export const OPERATIONS: readonly Operation[] = [
  readOperation('GET /me', () => '/me'),
  readOperation('GET /quota', () => '/quota'),
  readOperation('GET /posts', () => '/posts?limit=50'),
  readOperation('GET /posts/:id', (api) => `/posts/${api.busyPost}`),
  readOperation('GET /posts/:id/analytics', (api) => `/posts/${api.busyPost}/analytics`),
  readOperation('GET /posts/:id/comments', (api) => `/posts/${api.busyPost}/comments?limit=50`),
  {
    name: 'POST /posts',
    send: async (api) => {
      const { id } = await api.json<{ id: string }>('POST', '/posts', { content: 'Hello' });
      api.posts.push(id);
    },
  },
  {
    name: 'POST /posts/:id/comments',
    send: async (api) => {
      const path = `/posts/${api.busyPost}/comments`;
      const { id } = await api.json<{ id: string }>('POST', path, { text: 'Hello' });
      api.comments.push(id);
    },
  },
  { name: 'DELETE /posts/:id', send: (api) => api.json('DELETE', `/posts/${api.posts.pop()}`) },
  {
    name: 'DELETE /comments/:id',
    send: (api) => api.json('DELETE', `/comments/${api.comments.pop()}`),
  },
];

function readOperation(name: string, path: (api: Api) => string): Operation {
  return { name, send: (api) => api.json('GET', path(api)) };
}
