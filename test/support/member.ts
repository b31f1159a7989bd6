import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Scope } from '../../src/platform/access/scopes.js';
import { Comment } from '../../src/modules/comments/comment.entity.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { json } from './responses.js';
import type { TestApp, TestClient } from './test-app.js';

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

/** A user with an app that has an access token. */
export class Member {
  private constructor(
    readonly app: TestApp,
    readonly user: UserWithPhone,
    readonly client: TestClient,
    readonly token: string,
  ) {}

  static async join(
    app: TestApp,
    given: { user?: UserWithPhone; client?: TestClient; scopes?: readonly Scope[] } = {},
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

  /** Sends a POST with exactly this body and these headers. */
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

async function created<T>(response: Response): Promise<T> {
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return json<T>(response);
}

/** The numbers of rows and the counters of a member and their app. A rejected request must not change them. */
export interface Footprint {
  posts: number;
  comments: number;
  /** `users.post_count`. */
  postCount: number;
  /** The sum of `posts.comment_count` of the member's posts. */
  commentCount: number;
  quotaUsed: number;
}

export async function footprintOf({ app, user, client }: Member): Promise<Footprint> {
  const { manager } = app.dataSource;
  const { id: userId } = user;
  return {
    posts: await manager.countBy(Post, { userId }),
    comments: await manager.countBy(Comment, { userId }),
    postCount: (await manager.findOneByOrFail(User, { id: userId })).postCount,
    commentCount: Number(await manager.sum(Post, 'commentCount', { userId })),
    quotaUsed: Number(await manager.sum(QuotaUsage, 'used', { clientId: client.clientId })),
  };
}

/** The footprint of a member who published one post and one comment on it. All other requests were rejected. */
export const UNTOUCHED: Footprint = {
  posts: 1,
  comments: 1,
  postCount: 1,
  commentCount: 1,
  quotaUsed: 1,
};

/** A request whose body is incomplete, on both sides. */
export interface OpenCall {
  clientRequest: ClientRequest;
  serverRequest: Request;
  serverResponse: ServerResponse;
}

/** Sends a publish request up to the first byte of its body. Write the rest to `clientRequest`. */
export async function beginPublish(
  { app, token }: Member,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenCall> {
  const arrival = once(app.nest.getHttpServer(), 'request');
  const clientRequest = request(`${app.baseUrl}/dev/v1/posts`, {
    method: 'POST',
    headers: {
      connection: 'close',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  });
  clientRequest.on('error', () => undefined).write(body.slice(0, 1));
  const [serverRequest, serverResponse] = (await arrival) as [IncomingMessage, ServerResponse];
  return { clientRequest, serverRequest: serverRequest as Request, serverResponse };
}
