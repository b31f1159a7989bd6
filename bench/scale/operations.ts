import { accessToken } from '../credentials.js';
import { busyPost, type Size } from './fill.js';

/** One request of user 0, and what it leaves for those that follow. */
export interface Operation {
  name: string;
  send: (api: Api) => Promise<unknown>;
}

/** The service on one data set, as user 0 sees it. */
export class Api {
  /** What was made by the operations before, to be deleted by those after. */
  readonly posts: string[] = [];
  readonly comments: string[] = [];
  readonly busyPost: string;

  constructor(
    private readonly baseUrl: string,
    size: Size,
  ) {
    this.busyPost = busyPost(size);
  }

  /** Sends one request and reads its answer. @throws unless it was a 2xx */
  async send(method: string, path: string, body?: object): Promise<Response> {
    const answer = await fetch(`${this.baseUrl}/dev/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${accessToken(0)}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  async json<T>(method: string, path: string, body?: object): Promise<T> {
    return (await (await this.send(method, path, body)).json()) as T;
  }
}

/** Each of the API's operations. What one makes, a later one deletes. */
export const OPERATIONS: readonly Operation[] = [
  reading('GET /me', () => '/me'),
  reading('GET /quota', () => '/quota'),
  reading('GET /posts', () => '/posts?limit=50'),
  reading('GET /posts/:id', (api) => `/posts/${api.busyPost}`),
  reading('GET /posts/:id/analytics', (api) => `/posts/${api.busyPost}/analytics`),
  reading('GET /posts/:id/comments', (api) => `/posts/${api.busyPost}/comments?limit=50`),
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

function reading(name: string, path: (api: Api) => string): Operation {
  return { name, send: (api) => api.json('GET', path(api)) };
}
