import type { Scope } from '../../../src/platform/access/scopes.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import {
  type Actor,
  type AppName,
  type Body,
  type Call,
  invalid,
  missingScope,
  ok,
  type PersonName,
  rejected,
  type Result,
  withHeaders,
} from './api-call.js';
import { commentProblems, keyProblems, postProblems, sentOf } from './body-rules.js';
import { KeyRules } from './key-rules.js';
import { pageOf, queryProblems, type List } from './list-rules.js';
import { QuotaRules, secondsLeft } from './quota-rules.js';

/** The users, apps and settings of the service when a sequence begins. */
export interface ModelSetup {
  /** The base URL of the service. */
  baseUrl: string;
  people: Readonly<Record<PersonName, Profile>>;
  /** Monthly quotas; null is unlimited. */
  limits: Readonly<Record<AppName, number | null>>;
  /** The scopes that the person granted the app. */
  scopesOf: (actor: Actor) => readonly Scope[];
}

export type Profile = Pick<UserWithPhone, 'id' | 'name' | 'photoUrl' | 'karma' | 'neighborhood'>;

interface Post {
  id: string;
  owner: PersonName;
  /** The body of the request, without nulls. */
  sent: Body;
  createdAt: string;
  likedBy: Set<PersonName>;
  isDeleted: boolean;
}

interface Comment {
  id: string;
  postId: string;
  author: PersonName;
  text: unknown;
  parentId: unknown;
  createdAt: string;
  isDeleted: boolean;
}

/** A parsed call. */
interface Request extends Actor {
  path: string;
  /** The id in the path. */
  id: string;
  query: URLSearchParams;
  body: Body;
  key: string | undefined;
  now: Date;
  /** The id in the actual response: of the created item, if the call creates one. */
  createdId: string;
}

const MAX_POSTS = 50;
const MAX_COMMENTS = 100;

/** An in-memory model of the developer API. */
export class PlatformModel {
  /** All posts including deleted ones, oldest first. */
  readonly posts: Post[] = [];
  /** All comments including deleted ones, oldest first. */
  readonly comments: Comment[] = [];
  /** Successful calls with a key, including replays. */
  readonly keyed: Call[] = [];
  /** Calls to the `next` links of earlier responses. */
  readonly nextPages: Call[] = [];
  private readonly keys = new KeyRules();
  private readonly quota: QuotaRules;
  private readonly root: string;

  constructor(private readonly setup: ModelSetup) {
    this.quota = new QuotaRules(setup.limits);
    this.root = `${setup.baseUrl}/dev/v1`;
  }

  /** The routes with their required scope, if any. */
  private readonly routes: Record<string, [Scope | null, (request: Request) => Result]> = {
    'GET me': ['profile.read', ({ person }) => ok({ ...this.setup.people[person] })],
    'GET quota': [null, ({ app, now }) => ok(this.quota.status(app, now))],
    'POST posts': ['posts.write', (request) => this.publish(request)],
    'GET posts': ['posts.read', (request) => this.listPosts(request)],
    'GET posts/:id': ['posts.read', (request) => this.readPost(request)],
    'DELETE posts/:id': ['posts.write', (request) => this.deletePost(request)],
    'GET posts/:id/analytics': ['analytics.read', (request) => this.readAnalytics(request)],
    'POST posts/:id/comments': ['posts.write', (request) => this.comment(request)],
    'GET posts/:id/comments': ['posts.read', (request) => this.listComments(request)],
    'DELETE comments/:id': ['posts.write', (request) => this.deleteComment(request)],
  };

  /** Predicts the response to a call at `now`; `createdId` is the id in the actual response. */
  predict(call: Call, now: Date, createdId: string): Result {
    const [path = '', query = ''] = call.path.split('?');
    const [, collection = '', id = '', part = ''] = path.split('/');
    const segments = [collection, id && ':id', part].filter((segment) => segment !== '');
    const route = this.routes[`${call.method} ${segments.join('/')}`];
    if (!route) throw new Error(`The model has no route for ${call.method} ${path}.`);
    const [scope, handle] = route;
    const { caller, key, body = {} } = call;
    if (scope !== null && !this.setup.scopesOf(caller).includes(scope)) return missingScope(scope);
    const parsed = { query: new URLSearchParams(query), path, id, body, key, now, createdId };
    const result = handle({ ...caller, ...parsed });
    if (key !== undefined && result.status === 201) this.keyed.push(call);
    const next = result.links?.['next'];
    if (next !== undefined) this.nextPages.push({ ...call, path: next.slice(this.root.length) });
    return result;
  }

  /** Adds a comment that was written on the site of the network, without the API. */
  addComment(comment: Omit<Comment, 'parentId' | 'isDeleted'>): void {
    this.comments.push({ ...comment, parentId: null, isDeleted: false });
  }

  private publish(request: Request): Result {
    const { app, person, key, body, now, createdId } = request;
    const problems = [...postProblems(body), ...keyProblems(key)];
    if (problems.length > 0) return invalid(problems);
    const result = this.keys.once(request, () => {
      if (this.quota.status(app, now).remaining === 0) return rejected(429, 'quota_exceeded');
      this.quota.countPost(app, now);
      const createdAt = now.toISOString();
      const sent = sentOf(body);
      const post = { id: createdId, owner: person, sent, createdAt };
      this.posts.push({ ...post, likedBy: new Set(), isDeleted: false });
      const added = { id: createdId, permalink: this.permalink(createdId), createdAt };
      const headers = { location: `/dev/v1/posts/${createdId}` };
      return { status: 201, body: { ...sent, ...added }, headers };
    });
    const quotaHeaders = this.quota.headers(app, now);
    if (result.status === 201) return withHeaders(result, quotaHeaders);
    if (result.status !== 429) return result;
    return withHeaders(result, { ...quotaHeaders, 'retry-after': String(secondsLeft(now)) });
  }

  private listPosts({ person, query, path }: Request): Result {
    const problems = queryProblems(query, MAX_POSTS);
    if (problems.length > 0) return invalid(problems);
    const items = this.posts
      .filter(({ owner, isDeleted }) => owner === person && !isDeleted)
      .map(({ id, sent, createdAt }) => {
        return { id, content: sent['content'] ?? null, permalink: this.permalink(id), createdAt };
      });
    return pageOf(this.list(items, this.posts, path), query);
  }

  private readPost(request: Request): Result {
    const post = this.ownPost(request);
    if (!post) return rejected(404, 'not_found');
    const { id, createdAt, sent } = post;
    const { content = null, tags = [], reachKm = null, visibility = 'public' } = sent;
    const permalink = this.permalink(id);
    return ok({ id, content, tags, reachKm, visibility, permalink, createdAt });
  }

  private deletePost(request: Request): Result {
    const post = this.ownPost(request);
    if (!post) return rejected(404, 'not_found');
    post.isDeleted = true;
    return ok({ id: post.id, deleted: true });
  }

  private readAnalytics(request: Request): Result {
    const post = this.ownPost(request);
    if (!post) return rejected(404, 'not_found');
    const { id, likedBy, createdAt: publishedAt } = post;
    const comments = this.commentsOn(id).length;
    return ok({ id, likes: likedBy.size, comments, publishedAt, permalink: this.permalink(id) });
  }

  private comment(request: Request): Result {
    const { person: author, id: postId, key, body, now, createdId } = request;
    const problems = [...commentProblems(body), ...keyProblems(key)];
    if (problems.length > 0) return invalid(problems);
    return this.keys.once(request, () => {
      if (!this.ownPost(request)) return rejected(404, 'not_found');
      const { text, parentId = null } = sentOf(body);
      if (parentId !== null && !this.commentsOn(postId).some(({ id }) => id === parentId))
        return invalid(['parentId invalid_reference']);
      const createdAt = now.toISOString();
      const comment = {
        id: createdId,
        postId,
        author,
        text,
        parentId,
        createdAt,
        isDeleted: false,
      };
      this.comments.push(comment);
      return { status: 201, body: this.commentBody(comment) };
    });
  }

  private listComments(request: Request): Result {
    const { query, path } = request;
    const problems = queryProblems(query, MAX_COMMENTS);
    if (problems.length > 0) return invalid(problems);
    const post = this.ownPost(request);
    if (!post) return rejected(404, 'not_found');
    const items = this.commentsOn(post.id).map((comment) => this.commentBody(comment));
    return pageOf(this.list(items, this.comments, path), query);
  }

  private deleteComment({ person, id: requestedId }: Request): Result {
    const comment = this.comments.find(({ id }) => id === requestedId);
    if (!comment || comment.author !== person || comment.isDeleted)
      return rejected(404, 'not_found');
    comment.isDeleted = true;
    return ok({ id: comment.id, deleted: true });
  }

  private ownPost({ person, id: requestedId }: Request): Post | undefined {
    return this.posts.find(
      ({ id, owner, isDeleted }) => id === requestedId && owner === person && !isDeleted,
    );
  }

  private commentsOn(post: string): Comment[] {
    return this.comments.filter(({ postId, isDeleted }) => postId === post && !isDeleted);
  }

  private commentBody({ id, postId, author, text, parentId, createdAt }: Comment) {
    const { id: userId, name, photoUrl: avatar } = this.setup.people[author];
    const authorBody = { id: userId, name, avatar };
    return {
      id,
      text,
      parentId,
      author: authorBody,
      createdAt,
      permalink: this.permalink(postId),
    };
  }

  /** @param items oldest first */
  private list(items: List['items'], all: readonly { id: string }[], path: string): List {
    const allIds = all.map(({ id }) => id);
    return { items: items.toReversed(), allIds, url: `${this.root}${path}` };
  }

  private permalink(id: string): string {
    return `${this.setup.baseUrl}/post/${id}`;
  }
}
