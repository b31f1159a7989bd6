import { json } from '../../support/json.js';
import { Member, type PageBody } from './member.js';
import type { TestApp } from '../../support/test-app.js';

export type ItemPage = PageBody<{ id: string; createdAt: string }>;

/** One of the two lists of the API, as its owner sees it. */
export interface List {
  readonly member: Member;
  /** Under `/dev/v1`. */
  readonly path: string;
  /** Adds an item, a millisecond after whatever was there, and answers its id. */
  add(): Promise<string>;
  remove(id: string): Promise<Response>;
}

/** The lists, each by the pattern of its path. */
export const LISTS = {
  '/posts': async (app: TestApp): Promise<List> => {
    const member = await Member.join(app);
    return {
      member,
      path: '/posts',
      add: async () => {
        app.clock.advance(1);
        return (await member.publish()).id;
      },
      remove: (id) => member.delete(`/posts/${id}`),
    };
  },
  '/posts/:id/comments': async (app: TestApp): Promise<List> => {
    const member = await Member.join(app);
    const post = await member.publish();
    return {
      member,
      path: `/posts/${post.id}/comments`,
      add: async () => {
        app.clock.advance(1);
        return (await member.comment(post.id)).id;
      },
      remove: (id) => member.delete(`/comments/${id}`),
    };
  },
} as const;

export const LIST_PATHS = Object.keys(LISTS) as (keyof typeof LISTS)[];

/** Adds so many items and answers their ids as the list has them: newest first. */
export async function fill(list: List, count: number): Promise<string[]> {
  const ids = [];
  for (let item = 1; item <= count; item += 1) ids.unshift(await list.add());
  return ids;
}

/** The body of a list's answer, which must be a success. */
export async function pageIn(answer: Response): Promise<ItemPage> {
  expect(answer.status).toBe(200);
  return json<ItemPage>(answer);
}

export function idsOf({ data }: ItemPage): string[] {
  return data.map(({ id }) => id);
}

/** The addresses of the `Link` header by their relation (RFC 8288). */
export function linksOf(answer: Response): Record<string, string> {
  const header = answer.headers.get('link') ?? '';
  const links = [...header.matchAll(/<([^>]*)>; rel="([^"]*)"/g)];
  expect(links.map(([link]) => link).join(', ')).toBe(header);
  return Object.fromEntries(links.map(([, address = '', relation = '']) => [relation, address]));
}
