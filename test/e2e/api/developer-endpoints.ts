import type { Scope } from '../../../src/common/scopes.js';
import type { Member } from './member.js';

export interface Endpoint {
  method: 'GET' | 'POST' | 'DELETE';
  /** Under `/dev/v1`, with `:post` and `:comment` for ids. */
  path: string;
  /** Null where every valid access token will do. */
  scope: Scope | null;
  success: number;
}

/** The endpoints of the source document, section 4.2, and the app's own quota. */
export const ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/me', scope: 'profile.read', success: 200 },
  { method: 'POST', path: '/posts', scope: 'posts.write', success: 201 },
  { method: 'GET', path: '/posts', scope: 'posts.read', success: 200 },
  { method: 'GET', path: '/posts/:post', scope: 'posts.read', success: 200 },
  { method: 'GET', path: '/posts/:post/analytics', scope: 'analytics.read', success: 200 },
  { method: 'DELETE', path: '/posts/:post', scope: 'posts.write', success: 200 },
  { method: 'GET', path: '/posts/:post/comments', scope: 'posts.read', success: 200 },
  { method: 'POST', path: '/posts/:post/comments', scope: 'posts.write', success: 201 },
  { method: 'DELETE', path: '/comments/:comment', scope: 'posts.write', success: 200 },
  { method: 'GET', path: '/quota', scope: null, success: 200 },
];

/** A path with ids that nobody has. */
export function pathOf({ path }: Endpoint): string {
  return path
    .replace(':post', 'post_01kahq5f3veqdr8bn3tdmx3q0a')
    .replace(':comment', 'cmt_01kahq5f3veqdr8bn3tdmx3q0a');
}

/** What a request that succeeds sends, except for the ids. */
export function bodyOf({ method, path }: Endpoint): object | undefined {
  if (method !== 'POST') return undefined;
  return { [path === '/posts' ? 'content' : 'text']: 'Hi' };
}

/** The endpoint's path with ids of a new post by this member, and of a comment on it. */
export async function ownPathOf({ path }: Endpoint, member: Member): Promise<string> {
  if (!path.includes(':')) return path;
  const post = await member.publish();
  const comment = await member.comment(post.id);
  return path.replace(':post', post.id).replace(':comment', comment.id);
}
