import { isDeepStrictEqual } from 'node:util';
import { CommentsService } from '../../../src/modules/comments/comments.service.js';
import { PostsService } from '../../../src/modules/posts/posts.service.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import type { TestApp } from '../../support/test-app.js';
import {
  APPS,
  PEOPLE,
  resultOf,
  type Actor,
  type Call,
  type PersonName,
  type Result,
} from './api-call.js';
import { LIMITS, type Actors } from './api-actors.js';
import { PlatformModel } from './platform-model.js';

/** Counts over all sequences of a test. */
export class Tally {
  responses = 0;
  readonly statuses = new Set<number>();
  replays = 0;
}

const SMALL_PAGE = 7;
const MAX_LINE = 160;

/** Requests of one sequence. Compares each response with the prediction of the model. */
export class ApiComparison {
  readonly model: PlatformModel;
  private readonly lines: string[] = [];
  /** Short names for ids, in order of creation. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly app: TestApp,
    private readonly actors: Actors,
    private readonly tally: Tally,
  ) {
    const { people, scopesOf } = actors;
    this.model = new PlatformModel({ baseUrl: app.baseUrl, people, limits: LIMITS, scopesOf });
  }

  /** Makes a call, a millisecond after the previous step. @throws when the response differs from the prediction */
  async call(call: Call): Promise<Result> {
    this.app.clock.advance(1);
    const now = this.app.clock.now();
    const result = await resultOf(await this.send(call));
    this.tally.responses += 1;
    this.tally.statuses.add(result.status);
    const { id = '' } = (result.body ?? {}) as { id?: string };
    const isNew = !this.names.has(id);
    if (call.method === 'POST' && id !== '') this.name(id, call.path === '/posts' ? 'P' : 'C');
    this.log(call, result);
    const predicted = this.model.predict(call, now, id);
    if (!isDeepStrictEqual(result, predicted)) this.fail(differences(result, predicted));
    const isReplay = result.headers?.['idempotency-replayed'] !== undefined;
    if (isReplay) this.tally.replays += 1;
    if (result.status === 201 && isReplay === isNew)
      this.fail([isReplay ? 'the id of the replay is new' : 'the id is not new']);
    return result;
  }

  /** Reads a list to its end through its `next` links. */
  async walk(caller: Actor, path: string): Promise<void> {
    let next: string | undefined = path;
    while (next !== undefined) {
      const { links }: Result = await this.call({ caller, method: 'GET', path: next });
      next = links?.['next']?.slice(`${this.app.baseUrl}/dev/v1`.length);
    }
  }

  /** Advances the clock. */
  advanceClock(milliseconds: number): void {
    this.app.clock.advance(milliseconds);
    this.lines.push(`${milliseconds} ms pass`);
  }

  /** Adds a comment on any post, as on the site of the network, without the API. */
  async comment(author: PersonName, postId: string, text: string): Promise<void> {
    this.app.clock.advance(1);
    const owner = this.model.posts.find(({ id }) => id === postId)?.owner ?? author;
    const draft = { text, parentId: null, authorId: this.userOf(author).id };
    const comments = this.app.service(CommentsService);
    const { id, createdAt } = await comments.add(this.userOf(owner).id, postId, draft);
    this.model.addComment({ id, postId, author, text, createdAt });
    this.name(id, 'C');
    this.lines.push(this.named(`${author} comments on ${postId} in the network: ${id}`));
  }

  /** Likes a post, as on the site of the network, without the API. */
  async like(person: PersonName, postId: string): Promise<void> {
    await this.app.service(PostsService).like(this.userOf(person).id, postId);
    this.model.posts.find(({ id }) => id === postId)?.likedBy.add(person);
    this.lines.push(this.named(`${person} likes ${postId} in the network`));
  }

  /** Makes all read calls except `GET /me`, also for deleted posts. */
  async readAll(): Promise<void> {
    for (const person of PEOPLE) {
      const caller: Actor = { person, app: 'Street' };
      await this.walk(caller, `/posts?limit=${SMALL_PAGE}`);
      for (const { id } of this.model.posts.filter(({ owner }) => owner === person)) {
        await this.call({ caller, method: 'GET', path: `/posts/${id}` });
        await this.call({ caller, method: 'GET', path: `/posts/${id}/analytics` });
        await this.walk(caller, `/posts/${id}/comments?limit=${SMALL_PAGE}`);
      }
    }
    for (const app of APPS)
      await this.call({ caller: { person: 'Ana', app }, method: 'GET', path: '/quota' });
  }

  private send({ caller, method, path, body, key }: Call): Promise<Response> {
    const { token } = this.actors.memberOf(caller);
    return this.app.fetch(`/dev/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  private userOf(person: PersonName): UserWithPhone {
    return this.actors.memberOf({ person, app: 'Street' }).user;
  }

  private name(id: string, letter: string): void {
    if (!this.names.has(id)) this.names.set(id, `${letter}${this.names.size + 1}`);
  }

  private named(line: string): string {
    let text = line;
    for (const [id, name] of this.names) text = text.replaceAll(id, name);
    return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)} …` : text;
  }

  private log({ caller, method, path, body, key }: Call, { status, error = '' }: Result): void {
    const sent = body ? ` ${JSON.stringify(body)}` : '';
    const withKey = key === undefined ? '' : ` with the key "${key}"`;
    this.lines.push(
      `${this.named(`${caller.person} by ${caller.app}: ${method} ${path}${withKey}${sent}`)}: ${status} ${error}`,
    );
  }

  private fail(reasons: readonly string[]): never {
    const steps = this.lines.map((line, index) => `${index + 1}. ${line}`);
    const details = reasons.map((reason) => `   ${this.named(reason)}`);
    throw new Error(['The response differs from the model.', ...steps, ...details].join('\n'));
  }
}

function differences(result: Result, predicted: Result): string[] {
  const names = [
    ...new Set([...Object.keys(predicted), ...Object.keys(result)]),
  ] as (keyof Result)[];
  return names
    .filter((name) => !isDeepStrictEqual(result[name], predicted[name]))
    .flatMap((name) => [
      `${name} is        ${JSON.stringify(result[name])}`,
      `${name} should be ${JSON.stringify(predicted[name])}`,
    ]);
}
