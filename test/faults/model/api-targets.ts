import * as fc from 'fast-check';
import type { Actor, PersonName } from './api-call.js';
import { mostly } from './arbitraries.js';
import type { PlatformModel } from './platform-model.js';

export type ReadonlyModel = Readonly<PlatformModel>;

/** Selects the target of a call among the items that exist when the call is made. */
export interface Target {
  state: 'live' | 'deleted' | 'unknown';
  /** Index among the items in this state, modulo their number. */
  index: number;
  /** True if a random person makes the call, false for the owner. */
  isForeign: boolean;
}

/** The caller and the id of the target. */
interface ResolvedTarget {
  caller: Actor;
  id: string;
}

/** Ids that no item has. */
const UNKNOWN_POSTS = ['post_01kahq5f3veqdr8bn3tdmx3q0a', 'x'];
const UNKNOWN_COMMENTS = ['cmt_01kahq5f3veqdr8bn3tdmx3q0a', 'x'];

/** The index of an item, modulo the number of items. */
export const anyIndex = fc.nat(30);

export const target: fc.Arbitrary<Target> = fc.record({
  state: mostly({ usual: 'live', weight: 5, rare: ['deleted', 'unknown'] }),
  index: anyIndex,
  isForeign: mostly({ usual: false, weight: 4, rare: [true] }),
});

/** @param caller makes the call if the target is foreign; else the owner does, through the same app */
export function targetPost(
  posts: ReadonlyModel['posts'],
  caller: Actor,
  wanted: Target,
): ResolvedTarget {
  const post = findTarget(posts, wanted);
  const id = post?.id ?? pick(UNKNOWN_POSTS, wanted.index) ?? '';
  return resolveTarget(caller, wanted, post?.owner, id);
}

/** @param caller makes the call if the target is foreign; else the author does, through the same app */
export function targetComment(
  comments: ReadonlyModel['comments'],
  caller: Actor,
  wanted: Target,
): ResolvedTarget {
  const comment = findTarget(comments, wanted);
  const id = comment?.id ?? pick(UNKNOWN_COMMENTS, wanted.index) ?? '';
  return resolveTarget(caller, wanted, comment?.author, id);
}

/** The item at this index, modulo the number of items; undefined if there are none. */
export function pick<T>(items: readonly T[], index: number): T | undefined {
  return items[index % items.length];
}

function findTarget<T extends { isDeleted: boolean }>(
  items: readonly T[],
  { state, index }: Target,
): T | undefined {
  if (state === 'unknown') return undefined;
  return pick(
    items.filter(({ isDeleted }) => isDeleted === (state === 'deleted')),
    index,
  );
}

function resolveTarget(
  caller: Actor,
  { isForeign }: Target,
  owner: PersonName | undefined,
  id: string,
): ResolvedTarget {
  return { caller: isForeign ? caller : { ...caller, person: owner ?? caller.person }, id };
}
