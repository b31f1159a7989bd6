import type { Scope } from '../../../src/common/scopes.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import { json } from '../../support/json.js';
import type { TestApp, TestClient } from '../../support/test-app.js';

export interface PostBody {
  id: string;
  permalink: string;
  createdAt: string;
  [field: string]: unknown;
}

export interface CommentBody {
  id: string;
  text: string;
  parentId: string | null;
  author: { id: string; name: string; avatar: string | null };
  createdAt: string;
  permalink: string;
}

export interface PageBody<T> {
  data: T[];
  meta: { page: number; limit: number; total: number };
}

/** A user of the network with an app that acts for them. */
export class Member {
  private constructor(
    readonly app: TestApp,
    readonly user: User,
    readonly client: TestClient,
    readonly token: string,
  ) {}

  static async join(
    app: TestApp,
    given: { user?: User; client?: TestClient; scopes?: readonly Scope[] } = {},
  ): Promise<Member> {
    const user = given.user ?? (await app.addUser());
    const client = given.client ?? (await app.addClient());
    return new Member(app, user, client, await app.accessToken(user, client, given.scopes));
  }

  get(path: string): Promise<Response> {
    return this.app.call(this.token, 'GET', path);
  }

  post(path: string, body: unknown): Promise<Response> {
    return this.app.call(this.token, 'POST', path, body);
  }

  delete(path: string): Promise<Response> {
    return this.app.call(this.token, 'DELETE', path);
  }

  /** A POST whose body and headers are exactly these. */
  postRaw(
    path: string,
    body: RequestInit['body'],
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.app.fetch(`/dev/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, ...headers },
      body,
    });
  }

  async publish(body: object = { content: 'Hello, neighbours' }): Promise<PostBody> {
    return created(await this.post('/posts', body));
  }

  async comment(
    postId: string,
    text = 'Count me in',
    parentId: string | null = null,
  ): Promise<CommentBody> {
    return created(await this.post(`/posts/${postId}/comments`, { text, parentId }));
  }
}

async function created<T>(answer: Response): Promise<T> {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  return json<T>(answer);
}
