import * as fc from 'fast-check';
import type { Actor, PersonName } from './api-call.js';
import { mostly } from './arbitraries.js';
import type { PlatformModel } from './platform-model.js';

export type Known = Readonly<PlatformModel>;

/** Selects the target of a call among the items that exist when the call is made. */
export interface Target {
  state: 'live' | 'deleted' | 'unknown';
  /** Index among the items in this state, modulo their number. */
  which: number;
  /** True if a random person makes the call, false for the owner. */
  isForeign: boolean;
}

/** The caller and the id of the target. */
interface ResolvedTarget {
  by: Actor;
  id: string;
}

/** Ids that no item has. */
const UNKNOWN_POSTS = ['post_01kahq5f3veqdr8bn3tdmx3q0a', 'x'];
const UNKNOWN_COMMENTS = ['cmt_01kahq5f3veqdr8bn3tdmx3q0a', 'x'];

/** The index of an item, modulo the number of items. */
export const which = fc.nat(30);

export const target: fc.Arbitrary<Target> = fc.record({
  state: mostly({ usual: 'live', weight: 5, rare: ['deleted', 'unknown'] }),
  which,
  isForeign: mostly({ usual: false, weight: 4, rare: [true] }),
});

export function postAt(posts: Known['posts'], by: Actor, wanted: Target): ResolvedTarget {
  const post = findTarget(posts, wanted);
  return resolveTarget(
    by,
    wanted,
    post?.owner,
    post?.id ?? pick(UNKNOWN_POSTS, wanted.which) ?? '',
  );
}

export function commentAt(comments: Known['comments'], by: Actor, wanted: Target): ResolvedTarget {
  const comment = findTarget(comments, wanted);
  const id = comment?.id ?? pick(UNKNOWN_COMMENTS, wanted.which) ?? '';
  return resolveTarget(by, wanted, comment?.author, id);
}

export function pick<T>(some: readonly T[], place: number): T | undefined {
  return some[place % some.length];
}

function findTarget<T extends { isDeleted: boolean }>(
  some: readonly T[],
  { state, which: place }: Target,
): T | undefined {
  if (state === 'unknown') return undefined;
  return pick(
    some.filter(({ isDeleted }) => isDeleted === (state === 'deleted')),
    place,
  );
}

function resolveTarget(
  by: Actor,
  { isForeign }: Target,
  owner: PersonName | undefined,
  id: string,
): ResolvedTarget {
  return { by: isForeign ? by : { ...by, person: owner ?? by.person }, id };
}
