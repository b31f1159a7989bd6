import * as fc from 'fast-check';
import { DAY, HOUR, SECOND } from '../../../src/platform/clock.js';
import { PEOPLE, type Actor, type Body, type Call } from './api-call.js';
import type { ApiComparison } from './api-comparison.js';
import {
  anyIndex,
  pick,
  targetComment,
  targetPost,
  target,
  type ReadonlyModel,
} from './api-targets.js';
import { commentBodies, mostly, postBodies } from './arbitraries.js';
import type { PlatformModel } from './platform-model.js';

type Operation = fc.AsyncCommand<PlatformModel, ApiComparison>;

const person = fc.constantFrom(...PEOPLE);
/** The app with the low quota is used more. */
const anyCaller: fc.Arbitrary<Actor> = fc.record({
  person,
  app: mostly({ usual: 'Garden', weight: 2, rare: ['Street'] }),
});
/** Half of the calls have no key, and few have an invalid one. */
const key = mostly({ usual: undefined, weight: 1, rare: ['k1', 'k1', 'k2', 'k2', 'not valid'] });
const anyQuery = fc
  .record(
    {
      page: fc.constantFrom('1', '2', '3', '1000000', '0', 'x'),
      limit: fc.constantFrom('1', '2', '3', '50', '51', '100', '101', '1.5'),
    },
    { requiredKeys: [] },
  )
  .map((named) => new URLSearchParams(named).toString());
/** Most queries ask for low page numbers, where the items are. */
const query = fc.oneof(fc.constantFrom('', 'limit=1', 'limit=2', 'limit=3&page=2'), anyQuery);

const publish = callOf(
  'publish',
  fc.record({ caller: anyCaller, body: postBodies, key }),
  (_, { key: sentKey, ...rest }) => ({
    ...rest,
    ...withKey(sentKey),
    method: 'POST',
    path: '/posts',
  }),
);

const comment = callOf(
  'comment',
  fc.record({
    caller: anyCaller,
    post: target,
    body: commentBodies,
    parent: fc.option(target, { freq: 1 }),
    isOnSamePost: mostly({ usual: true, weight: 3, rare: [false] }),
    key,
  }),
  (model, { caller, post, body, parent, isOnSamePost, key: sentKey }) => {
    const { caller: actor, id } = targetPost(model.posts, caller, post);
    const { comments } = model;
    const parents = isOnSamePost ? comments.filter(({ postId }) => postId === id) : comments;
    const parentId = parent && targetComment(parents, actor, parent).id;
    return {
      caller: actor,
      method: 'POST',
      path: `/posts/${id}/comments`,
      body: { ...body, ...(parentId !== null && { parentId }) },
      ...withKey(sentKey),
    };
  },
);

/** Repeats a keyed call, with the same or another body. */
const repeat = callOf(
  'repeat',
  fc.record({
    index: anyIndex,
    otherBody: fc.option(fc.oneof(postBodies, commentBodies), { freq: 1 }),
  }),
  ({ keyed }, { index, otherBody }) => withBody(pick(keyed, index), otherBody),
);

const listPosts = callOf('list posts', fc.record({ caller: anyCaller, query }), (_, drawn) => {
  return { caller: drawn.caller, method: 'GET', path: withQuery('/posts', drawn.query) };
});

const listComments = callOf(
  'list comments',
  fc.record({ caller: anyCaller, post: target, query }),
  (model, drawn) => {
    const { caller, id } = targetPost(model.posts, drawn.caller, drawn.post);
    return { caller, method: 'GET', path: withQuery(`/posts/${id}/comments`, drawn.query) };
  },
);

const followNext = callOf('follow a next link', anyIndex, ({ nextPages }, index) =>
  pick(nextPages, index),
);

const deleteComment = callOf(
  'delete a comment',
  fc.record({ caller: anyCaller, comment: target }),
  (model, drawn) => {
    const { caller, id } = targetComment(model.comments, drawn.caller, drawn.comment);
    return { caller, method: 'DELETE', path: `/comments/${id}` };
  },
);

const readProfile = callOf('read the profile', anyCaller, (_, caller) => {
  return { caller, method: 'GET', path: '/me' };
});

const readQuota = callOf('read the quota', anyCaller, (_, caller) => {
  return { caller, method: 'GET', path: '/quota' };
});

const commentInNetwork = inNetwork(
  'comments',
  () => true,
  (comparison, author, postId) => comparison.comment(author, postId, 'From elsewhere'),
);

const likeInNetwork = inNetwork(
  'likes',
  ({ likedBy }, fan) => !likedBy.has(fan),
  (comparison, fan, postId) => comparison.like(fan, postId),
);

const passTime = fc
  .constantFrom(SECOND, 6 * HOUR, 13 * HOUR, DAY)
  .map((milliseconds): Operation => ({
    check: () => true,
    run: async (_, comparison) => comparison.advanceClock(milliseconds),
    toString: () => `${milliseconds} ms pass`,
  }));

/** The weighted operations of a sequence. */
export const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 10, arbitrary: publish },
  { weight: 7, arbitrary: comment },
  { weight: 4, arbitrary: repeat },
  { weight: 3, arbitrary: listPosts },
  { weight: 3, arbitrary: listComments },
  { weight: 3, arbitrary: followNext },
  { weight: 3, arbitrary: deleteComment },
  { weight: 2, arbitrary: commentInNetwork },
  { weight: 2, arbitrary: onPost('DELETE') },
  { weight: 2, arbitrary: onPost('GET') },
  { weight: 2, arbitrary: onPost('GET', '/analytics') },
  { weight: 1, arbitrary: likeInNetwork },
  { weight: 1, arbitrary: readProfile },
  { weight: 1, arbitrary: readQuota },
  { weight: 1, arbitrary: passTime },
);

/** A call that `make` builds for the state of the model. It is skipped where `make` returns undefined. */
function callOf<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  make: (model: ReadonlyModel, drawn: T) => Call | undefined,
): fc.Arbitrary<Operation> {
  return arbitrary.map((drawn) => ({
    check: (model) => make(model, drawn) !== undefined,
    run: async (model, comparison) => {
      const call = make(model, drawn);
      if (call) await comparison.call(call);
    },
    toString: () => `${name} ${fc.stringify(drawn)}`,
  }));
}

function onPost(method: 'GET' | 'DELETE', part = ''): fc.Arbitrary<Operation> {
  return callOf(
    `${method} of a post${part}`,
    fc.record({ caller: anyCaller, post: target }),
    (model, drawn) => {
      const { caller, id } = targetPost(model.posts, drawn.caller, drawn.post);
      return { caller, method, path: `/posts/${id}${part}` };
    },
  );
}

/** An action of a person on the site of the network, without the API, on an existing post. */
function inNetwork(
  what: string,
  isAllowed: (post: ReadonlyModel['posts'][number], actor: Actor['person']) => boolean,
  act: (comparison: ApiComparison, actor: Actor['person'], postId: string) => Promise<void>,
): fc.Arbitrary<Operation> {
  return fc.record({ person, index: anyIndex }).map(({ person: actor, index }) => {
    const find = ({ posts }: ReadonlyModel) =>
      pick(
        posts.filter((post) => !post.isDeleted && isAllowed(post, actor)),
        index,
      );
    return {
      check: (model) => find(model) !== undefined,
      run: async (model, comparison) => act(comparison, actor, find(model)?.id ?? ''),
      toString: () => `${actor} ${what} in the network, post ${index}`,
    };
  });
}

function withKey(sent: string | undefined): Pick<Call, 'key'> {
  return sent === undefined ? {} : { key: sent };
}

function withBody(call: Call | undefined, body: Body | null): Call | undefined {
  return call && body ? { ...call, body } : call;
}

function withQuery(path: string, search: string): string {
  return search === '' ? path : `${path}?${search}`;
}
