import type { Pool } from 'mysql2/promise';
import {
  accessToken,
  authorizationCode,
  CODE_VERIFIER,
  REDIRECT_URI,
  refreshToken,
} from './credentials.js';
import type { DataSet } from './data-set.js';
import type { LoadRequest, Requests } from './load/requests.js';
import type { TokenTables } from './peers/token-tables.js';

/** Number of codes that are inserted for each second of load: more than any program can exchange in a second. */
const CODES_PER_SECOND = 4000;
const REFRESHING_CONNECTIONS = 32;
/** Below the default limit of refreshes of a grant in an hour. */
const REFRESHES_PER_GRANT = 100;
/** Grants that are inserted for each second of load. With their refreshes, they are more than any program can serve in a second. */
const GRANTS_PER_SECOND = 60;

/** One kind of request. */
export interface Workload {
  name: string;
  /** The peers that support the workload. */
  peers: readonly string[];
  /** Inserts the rows that one measurement needs and returns its requests. */
  requests: (run: Run) => Promise<Requests>;
}

/** The input of a measurement. */
export interface Run {
  pool: Pool;
  data: DataSet;
  /** The tables of codes and tokens of the program under load. */
  tokens: TokenTables;
  seconds: number;
}

const API_PEERS = ['floor', 'express', 'idiomatic'];
const TOKEN_PEERS = ['oidc-provider', 'oauth2-server'];

/** The next unused number of a code or refresh token. */
let nextNumber = 0;

export const WORKLOADS: readonly Workload[] = [
  readWorkload('me', () => '/dev/v1/me'),
  readWorkload('post', ({ postIds }, user) => `/dev/v1/posts/${postIds[user]}`),
  readWorkload('posts', () => '/dev/v1/posts?limit=20'),
  readWorkload(
    'comments',
    ({ commentedPostIds }, user) => `/dev/v1/posts/${commentedPostIds[user]}/comments?limit=20`,
  ),
  { name: 'paging', peers: API_PEERS, requests: async () => paging() },
  { name: 'publish', peers: API_PEERS, requests: async ({ data }) => publishing(data) },
  { name: 'exchange', peers: TOKEN_PEERS, requests: exchanging },
  { name: 'refresh', peers: TOKEN_PEERS, requests: refreshing },
];

/** A workload in which each user reads their own data. */
function readWorkload(name: string, path: (data: DataSet, user: number) => string): Workload {
  return {
    name,
    peers: API_PEERS,
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

function publishing({ userIds }: DataSet): Requests {
  const body = JSON.stringify({
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
  return {
    kind: 'repeated',
    requests: userIds.map((_, user) => ({
      method: 'POST',
      path: '/dev/v1/posts',
      headers: { ...bearer(user), 'content-type': 'application/json' },
      body,
    })),
  };
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
  const count = REFRESHING_CONNECTIONS + GRANTS_PER_SECOND * seconds;
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
  return { kind: 'chain', connections: REFRESHING_CONNECTIONS, first, following };
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
