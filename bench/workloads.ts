import { randomInt, randomUUID } from 'node:crypto';
import type { Pool } from 'mysql2/promise';
import {
  accessToken,
  authorizationCode,
  CODE_VERIFIER,
  REDIRECT_URI,
  refreshToken,
} from './credentials.js';
import { addPosts, type DataSet } from './data-set.js';
import { CONNECTIONS, shuffled, type LoadRequest, type Requests } from './load/requests.js';
import type { TokenTables } from './peers/token-tables.js';
import { STORE_KEYS } from './programs.js';

/** Number of codes that are inserted for each second of load: more than any program can exchange in a second. */
const CODES_PER_SECOND = 4000;
/** Below the default limit of refreshes of an app for a user in an hour: of the inserted grants, no two have the same app and user. */
const REFRESHES_PER_GRANT = 100;
/** Grants that are inserted for each second of load. With their refreshes, they are more than any program can serve in a second. */
const GRANTS_PER_SECOND = 60;
/** Posts of each user that are inserted for each second of load: together more than any program can delete in a second. */
const DELETIONS_PER_USER = 4;

/** One kind of request. */
export interface Workload {
  name: string;
  /** The peers that support the workload. */
  peers: readonly string[];
  /** The status of every response. */
  status: number;
  /** Inserts the rows that one measurement needs and returns its requests. */
  requests: (run: Run) => Promise<Requests>;
  /** SQL expressions of numbers that each response increases by one; a read has none. */
  counters?: (run: Run) => readonly string[];
}

/** The input of a measurement. */
export interface Run {
  /** The name of the program under load. */
  program: string;
  pool: Pool;
  data: DataSet;
  /** The tables of codes and tokens of the program under load. */
  tokens: TokenTables;
  seconds: number;
}

const API_PEERS = ['floor', 'express', 'idiomatic'];
/** Peers of the requests with an idempotency key. */
const KEY_PEERS = ['floor', 'express', 'express-keyed', 'idiomatic'];
const TOKEN_PEERS = ['oidc-provider', 'oauth2-server'];

/** The next unused number of a code or refresh token. */
let nextNumber = 0;

const POST_COUNTERS = [
  '(SELECT COUNT(*) FROM posts)',
  '(SELECT SUM(post_count) FROM users)',
  '(SELECT SUM(used) FROM quota_usage)',
];
const COMMENT_COUNTERS = [
  '(SELECT COUNT(*) FROM comments)',
  '(SELECT SUM(comment_count) FROM posts)',
];
const DELETION_COUNTERS = [
  '(SELECT COUNT(*) FROM posts WHERE deleted_at IS NOT NULL)',
  '(SELECT -SUM(post_count) FROM users)',
];
const keyCounters = ({ program }: Run): string[] =>
  STORE_KEYS.includes(program) ? ['(SELECT COUNT(*) FROM idempotency_keys)'] : [];
const tokenCounters = ({ tokens }: Run): string[] => [
  `(SELECT COUNT(*) FROM ${tokens.accessTokens})`,
];

export const WORKLOADS: readonly Workload[] = [
  readWorkload('me', () => '/dev/v1/me'),
  readWorkload('post', ({ postIds }, user) => `/dev/v1/posts/${postIds[user]}`),
  readWorkload('posts', () => '/dev/v1/posts?limit=20'),
  readWorkload(
    'comments',
    ({ commentedPostIds }, user) => `/dev/v1/posts/${commentedPostIds[user]}/comments?limit=20`,
  ),
  {
    name: 'paging',
    peers: API_PEERS,
    status: 200,
    requests: async () => paging(),
  },
  {
    name: 'publish',
    peers: API_PEERS,
    status: 201,
    requests: async ({ data: { userIds } }) => ({
      kind: 'repeated',
      requests: userIds.map((_, user) => publish(user)),
    }),
    counters: () => POST_COUNTERS,
  },
  {
    name: 'publish-key',
    peers: KEY_PEERS,
    status: 201,
    requests: async ({ data: { userIds } }) => ({
      kind: 'once',
      next: () => withNewKey(publish(randomInt(userIds.length))),
    }),
    counters: (run) => [...POST_COUNTERS, ...keyCounters(run)],
  },
  {
    name: 'comment',
    peers: KEY_PEERS,
    status: 201,
    requests: async ({ data }) => ({
      kind: 'once',
      next: () => withNewKey(comment(data, randomInt(data.userIds.length))),
    }),
    counters: (run) => [...COMMENT_COUNTERS, ...keyCounters(run)],
  },
  {
    name: 'delete',
    peers: API_PEERS,
    status: 200,
    requests: deleting,
    counters: () => DELETION_COUNTERS,
  },
  {
    name: 'exchange',
    peers: TOKEN_PEERS,
    status: 200,
    requests: exchanging,
    counters: tokenCounters,
  },
  {
    name: 'refresh',
    peers: TOKEN_PEERS,
    status: 200,
    requests: refreshing,
    counters: tokenCounters,
  },
];

/** A workload in which each user reads their own data. */
function readWorkload(name: string, path: (data: DataSet, user: number) => string): Workload {
  return {
    name,
    peers: API_PEERS,
    status: 200,
    requests: async ({ data }) => ({
      kind: 'repeated',
      requests: data.userIds.map((_, user) => get(path(data, user), user)),
    }),
  };
}

const firstPage = (): LoadRequest => get('/dev/v1/posts?limit=20', 0);

/** One connection follows `Link` through a long list from the first page to the last, repeatedly. */
function paging(): Requests {
  const following = ({ link = '' }: { link?: string }): LoadRequest => {
    const next = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    if (next === undefined) return firstPage();
    const { pathname, search } = new URL(next);
    return get(pathname + search, 0);
  };
  return { kind: 'chain', connections: 1, first: firstPage, following };
}

const POST = JSON.stringify({
  title: 'Street party',
  content: 'Bring a chair and something to share. '.repeat(5),
  type: 'general',
  tags: ['party', 'Saturday'],
  images: ['https://photos.example/party.jpg'],
  latitude: 37.77,
  longitude: -122.42,
  reachKm: 2.5,
  visibility: 'public',
});
const COMMENT = JSON.stringify({ text: 'Count me in! Shall I bring the lanterns again?' });

const publish = (user: number): LoadRequest => postJson('/dev/v1/posts', user, POST);

const comment = ({ postIds }: DataSet, user: number): LoadRequest =>
  postJson(`/dev/v1/posts/${postIds[user]}/comments`, user, COMMENT);

function withNewKey(request: LoadRequest): LoadRequest {
  return { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } };
}

/** Deletes posts that were inserted for the measurement. */
async function deleting({ pool, data, seconds }: Run): Promise<Requests> {
  const posts = shuffled(await addPosts(pool, data, DELETIONS_PER_USER * seconds));
  const next = (): LoadRequest => {
    const post = posts.pop();
    if (!post) throw new Error('All inserted posts were deleted. Increase DELETIONS_PER_USER.');
    return { method: 'DELETE', path: `/dev/v1/posts/${post.id}`, headers: bearer(post.user) };
  };
  return { kind: 'once', next };
}

async function exchanging({ pool, data, tokens, seconds }: Run): Promise<Requests> {
  const count = CODES_PER_SECOND * seconds;
  const from = nextNumber;
  nextNumber += count;
  await tokens.seedCodes(pool, data.userIds, from, count);
  let number = from;
  const next = (): LoadRequest => {
    if (number === from + count)
      throw new Error('All inserted codes were exchanged. Increase CODES_PER_SECOND.');
    const code = authorizationCode(number);
    const client_id = tokens.clientOf(number);
    number += 1;
    return tokenRequest({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      client_id,
      code_verifier: CODE_VERIFIER,
    });
  };
  return { kind: 'once', next };
}

/** Each connection refreshes a grant again and again, and continues with another grant before the limit of the first. */
async function refreshing({ pool, data, tokens, seconds }: Run): Promise<Requests> {
  const count = CONNECTIONS + GRANTS_PER_SECOND * seconds;
  const from = nextNumber;
  nextNumber += count;
  await tokens.seedRefreshTokens(pool, data.userIds, from, count);
  let number = from;
  const first = (): LoadRequest => {
    if (number === from + count)
      throw new Error('All inserted grants were refreshed. Increase GRANTS_PER_SECOND.');
    const request = refreshRequest(refreshToken(number), tokens.clientOf(number));
    number += 1;
    return request;
  };
  /** How often the grant of a request was refreshed before. */
  const earlierRefreshes = new WeakMap<LoadRequest, number>();
  const following = (response: { body: string }, previous: LoadRequest): LoadRequest => {
    const refreshes = (earlierRefreshes.get(previous) ?? 0) + 1;
    if (refreshes === REFRESHES_PER_GRANT) return first();
    const request = refreshAgain(response, previous);
    earlierRefreshes.set(request, refreshes);
    return request;
  };
  return { kind: 'chain', connections: CONNECTIONS, first, following };
}

function refreshRequest(refresh_token: string, client_id: string): LoadRequest {
  return tokenRequest({ grant_type: 'refresh_token', refresh_token, client_id });
}

/** Refreshes with the new refresh token and the client_id of the previous request. */
function refreshAgain({ body }: { body: string }, previous: LoadRequest): LoadRequest {
  const { refresh_token } = JSON.parse(body) as { refresh_token: string };
  return refreshRequest(refresh_token, new URLSearchParams(previous.body).get('client_id') ?? '');
}

function get(path: string, user: number): LoadRequest {
  return { method: 'GET', path, headers: bearer(user) };
}

function postJson(path: string, user: number, body: string): LoadRequest {
  const headers = { ...bearer(user), 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body };
}

function bearer(user: number): Record<string, string> {
  return { authorization: `Bearer ${accessToken(user)}` };
}

function tokenRequest(form: Record<string, string>): LoadRequest {
  return {
    method: 'POST',
    path: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  };
}
