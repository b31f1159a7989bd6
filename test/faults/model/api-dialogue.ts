import { isDeepStrictEqual } from 'node:util';
import { CommentsService } from '../../../src/modules/comments/comments.service.js';
import { PostsService } from '../../../src/modules/posts/posts.service.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import type { TestApp } from '../../support/test-app.js';
import {
  APPS,
  PEOPLE,
  toldBy,
  type Actor,
  type Call,
  type PersonName,
  type Told,
} from './api-call.js';
import { LIMITS, type Cast } from './api-cast.js';
import { PlatformModel } from './platform-model.js';

/** What all sequences of a test have shown. */
export class Tally {
  answers = 0;
  readonly statuses = new Set<number>();
  replays = 0;
}

const SMALL_PAGE = 7;
const LONGEST_LINE = 160;

/** What the apps and the service say to each other in one sequence, each answer held against the model's. */
export class Dialogue {
  readonly model: PlatformModel;
  private readonly lines: string[] = [];
  /** Short names for ids, in the order in which they came up. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly app: TestApp,
    private readonly cast: Cast,
    private readonly tally: Tally,
  ) {
    const { people, scopesOf } = cast;
    this.model = new PlatformModel({ baseUrl: app.baseUrl, people, limits: LIMITS, scopesOf });
  }

  /** Makes a call, a millisecond after whatever happened before. @throws when it is not answered as the model says */
  async call(call: Call): Promise<Told> {
    this.app.clock.advance(1);
    const now = this.app.clock.now();
    const told = await toldBy(await this.send(call));
    this.tally.answers += 1;
    this.tally.statuses.add(told.status);
    const { id = '' } = (told.body ?? {}) as { id?: string };
    const isNew = !this.names.has(id);
    if (call.method === 'POST' && id !== '') this.name(id, call.path === '/posts' ? 'P' : 'C');
    this.say(call, told);
    const wanted = this.model.answer(call, now, id);
    if (!isDeepStrictEqual(told, wanted)) this.fail(differences(told, wanted));
    const isReplay = told.headers?.['idempotency-replayed'] !== undefined;
    if (isReplay) this.tally.replays += 1;
    if (told.status === 201 && isReplay === isNew) this.fail(['the id is not new']);
    return told;
  }

  /** Reads a list to its end, by its `next` links. */
  async walk(by: Actor, path: string): Promise<void> {
    let next: string | undefined = path;
    while (next !== undefined) {
      const { links }: Told = await this.call({ by, method: 'GET', path: next });
      next = links?.['next']?.slice(`${this.app.baseUrl}/dev/v1`.length);
    }
  }

  /** Time passes. */
  pass(milliseconds: number): void {
    this.app.clock.advance(milliseconds);
    this.lines.push(`${milliseconds} ms pass`);
  }

  /** Somebody comments in the network itself, on whosever post. */
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

  /** Somebody likes a post in the network itself. */
  async like(person: PersonName, postId: string): Promise<void> {
    await this.app.service(PostsService).like(this.userOf(person).id, postId);
    this.model.posts.find(({ id }) => id === postId)?.likedBy.add(person);
    this.lines.push(this.named(`${person} likes ${postId} in the network`));
  }

  /** Reads everything that there is, and what there no longer is. */
  async readAll(): Promise<void> {
    for (const person of PEOPLE) {
      const by: Actor = { person, app: 'Street' };
      await this.walk(by, `/posts?limit=${SMALL_PAGE}`);
      for (const { id } of this.model.posts.filter(({ owner }) => owner === person)) {
        await this.call({ by, method: 'GET', path: `/posts/${id}` });
        await this.call({ by, method: 'GET', path: `/posts/${id}/analytics` });
        await this.walk(by, `/posts/${id}/comments?limit=${SMALL_PAGE}`);
      }
    }
    for (const app of APPS)
      await this.call({ by: { person: 'Ana', app }, method: 'GET', path: '/quota' });
  }

  private send({ by, method, path, body, key }: Call): Promise<Response> {
    const { token } = this.cast.memberOf(by);
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

  private userOf(person: PersonName): User {
    return this.cast.memberOf({ person, app: 'Street' }).user;
  }

  private name(id: string, letter: string): void {
    if (!this.names.has(id)) this.names.set(id, `${letter}${this.names.size + 1}`);
  }

  private named(line: string): string {
    let text = line;
    for (const [id, name] of this.names) text = text.replaceAll(id, name);
    return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} …` : text;
  }

  private say({ by, method, path, body, key }: Call, { status, error = '' }: Told): void {
    const sent = body ? ` ${JSON.stringify(body)}` : '';
    const under = key === undefined ? '' : ` under the key "${key}"`;
    this.lines.push(
      `${this.named(`${by.person} by ${by.app}: ${method} ${path}${under}${sent}`)}: ${status} ${error}`,
    );
  }

  private fail(reasons: readonly string[]): never {
    const steps = this.lines.map((line, index) => `${index + 1}. ${line}`);
    const said = reasons.map((reason) => `   ${this.named(reason)}`);
    throw new Error(['The service does not answer as the model.', ...steps, ...said].join('\n'));
  }
}

function differences(told: Told, wanted: Told): string[] {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(told)])] as (keyof Told)[];
  return names
    .filter((name) => !isDeepStrictEqual(told[name], wanted[name]))
    .flatMap((name) => [
      `${name} is     ${JSON.stringify(told[name])}`,
      `${name} should ${JSON.stringify(wanted[name])}`,
    ]);
}
