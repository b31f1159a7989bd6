/*
 * The least that a server can do: Node's HTTP server and prepared statements of mysql2, without a framework. Its cost is a lower bound.
 */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { newId } from '../../../src/platform/ids.js';
import {
  commentResponse,
  isValid,
  linkHeader,
  periodOf,
  permalink,
  secondsLeft,
  type AccessRow,
  type AuthorRow,
  type CommentRow,
} from '../responses.js';
import { CallLog, callRow, PUBLISH_ROUTE } from '../call-log.js';
import { peerSettings } from '../settings.js';
import * as sql from '../statements.js';
import { Database, type PostRow } from './database.js';

const settings = peerSettings();
const database = new Database(settings);
const calls = new CallLog(database.pool);

interface Caller {
  userId: string;
  clientId: string;
  /** Per month; null is unlimited. */
  postLimit: number | null;
  requestId: string;
  receivedAt: Date;
}

interface PeerResponse {
  route: string;
  status: number;
  body: unknown;
  headers?: Record<string, string | number>;
}

const DEFAULT_PAGE_SIZE = 20;

const server = createServer((request, response) => {
  handle(request, response).catch((error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    response.writeHead(500).end();
  });
});
server.listen(settings.port, '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const receivedAt = new Date();
  const requestId = newId('req', receivedAt);
  const caller = await authenticate(request, requestId, receivedAt);
  const result = caller
    ? await dispatch(request, caller)
    : { route: '', status: 401, body: { error: 'invalid_token' } };
  const text = JSON.stringify(result.body);
  response.writeHead(result.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
    ...result.headers,
  });
  response.end(text);
  const { route, status } = result;
  if (!caller) return;
  const durationMs = Date.now() - receivedAt.getTime();
  calls.record({ ...caller, at: receivedAt, route, status, durationMs });
}

async function authenticate(
  request: IncomingMessage,
  requestId: string,
  receivedAt: Date,
): Promise<Caller | undefined> {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  const hash = createHash('sha256').update(token).digest('hex');
  const [access] = await database.rows<AccessRow>(sql.FIND_ACCESS, [hash]);
  if (!isValid(access)) return undefined;
  const { user_id: userId, client_id: clientId, monthly_post_limit: postLimit } = access;
  return { userId, clientId, postLimit, requestId, receivedAt };
}

async function dispatch(request: IncomingMessage, caller: Caller): Promise<PeerResponse> {
  const url = new URL(request.url ?? '', 'http://floor');
  const [, , , resource, id, child] = url.pathname.split('/');
  if (resource === 'me') return readProfile(caller);
  if (resource !== 'posts') return { route: '', status: 404, body: { error: 'not_found' } };
  if (request.method === 'POST') {
    const body = await readJson(request);
    return id === undefined ? publish(caller, body) : addComment(caller, id, String(body.text));
  }
  const page = Number(url.searchParams.get('page') ?? 1);
  const limit = Number(url.searchParams.get('limit') ?? DEFAULT_PAGE_SIZE);
  const listUrl = `http://${request.headers.host}${url.pathname}`;
  if (id === undefined) return listPosts(caller, listUrl, page, limit);
  if (request.method === 'DELETE') return deletePost(caller, id);
  if (child === 'comments') return listComments(caller, id, listUrl, page, limit);
  return readPost(caller, id);
}

async function readProfile({ userId }: Caller): Promise<PeerResponse> {
  const [profile] = await database.rows(sql.FIND_PROFILE, [userId]);
  return { route: 'GET /dev/v1/me', status: 200, body: profile };
}

async function readPost({ userId }: Caller, postId: string): Promise<PeerResponse> {
  const route = 'GET /dev/v1/posts/:id';
  const [post] = await database.rows<PostRow>(sql.FIND_POST, [postId, userId]);
  if (!post) return { route, status: 404, body: { error: 'not_found' } };
  const { id, content, tags, reachKm, visibility, createdAt } = post;
  const body = { id, content, tags: JSON.parse(tags), reachKm, visibility };
  return { route, status: 200, body: { ...body, permalink: permalink(id), createdAt } };
}

async function listPosts(
  { userId }: Caller,
  listUrl: string,
  page: number,
  limit: number,
): Promise<PeerResponse> {
  const [count] = await database.rows<{ total: number }>(sql.FIND_POST_COUNT, [userId]);
  const total = count?.total ?? 0;
  const offset = (page - 1) * limit;
  const posts = await database.rows<PostRow>(sql.LIST_POSTS, [
    userId,
    String(limit),
    String(offset),
  ]);
  const data = posts.map(({ id, content, createdAt }) => ({
    id,
    content,
    permalink: permalink(id),
    createdAt,
  }));
  return {
    route: 'GET /dev/v1/posts',
    status: 200,
    body: { data, meta: { page, limit, total } },
    headers: { link: linkHeader(listUrl, page, limit, total) },
  };
}

async function listComments(
  { userId }: Caller,
  postId: string,
  listUrl: string,
  page: number,
  limit: number,
): Promise<PeerResponse> {
  const route = 'GET /dev/v1/posts/:id/comments';
  const [post] = await database.rows<{ total: number }>(sql.FIND_COMMENT_COUNT, [postId, userId]);
  if (!post) return { route, status: 404, body: { error: 'not_found' } };
  const offset = (page - 1) * limit;
  const comments = await database.rows<CommentRow>(sql.LIST_COMMENTS, [
    postId,
    String(limit),
    String(offset),
  ]);
  const data = comments.map((comment) => commentResponse(comment, postId));
  return {
    route,
    status: 200,
    body: { data, meta: { page, limit, total: post.total } },
    headers: { link: linkHeader(listUrl, page, limit, post.total) },
  };
}

async function publish(caller: Caller, draft: Record<string, unknown>): Promise<PeerResponse> {
  const { userId, clientId, postLimit, requestId, receivedAt } = caller;
  const route = PUBLISH_ROUTE;
  const now = new Date();
  const id = newId('post', now);
  const period = periodOf(now);
  const { title, content, type, images, tags, latitude, longitude, reachKm, visibility } = draft;
  const spent = await database.transaction(async (run) => {
    await run(sql.INSERT_POST, [
      id,
      userId,
      clientId,
      title,
      content,
      type,
      JSON.stringify(images),
      JSON.stringify(tags),
      latitude,
      longitude,
      reachKm,
      visibility,
      now,
    ]);
    await run(sql.INCREMENT_POST_COUNT, [userId]);
    const durationMs = now.getTime() - receivedAt.getTime();
    const call = { at: now, clientId, userId, route, status: 201, durationMs, requestId };
    await run(sql.INSERT_CALL, callRow(call, { countsAgainstQuota: true }));
    const spend = async (): Promise<boolean> =>
      (await run(sql.COUNT_AGAINST_QUOTA, [clientId, period, postLimit])) === 1;
    if (await spend()) return true;
    await run(sql.INSERT_QUOTA_MONTH, [clientId, period]);
    // False rolls back.
    return spend();
  });
  if (!spent) return { route, status: 429, body: { error: 'quota_exceeded' } };
  const [usage] = await database.rows<{ used: number }>(sql.FIND_USED, [clientId, period]);
  const remaining = (postLimit ?? 0) - (usage?.used ?? 0);
  return {
    route,
    status: 201,
    body: { id, ...draft, permalink: permalink(id), createdAt: now },
    headers: {
      location: `/dev/v1/posts/${id}`,
      ratelimit: `"posts-month";r=${remaining};t=${secondsLeft(now)}`,
    },
  };
}

async function addComment({ userId }: Caller, postId: string, text: string): Promise<PeerResponse> {
  const route = 'POST /dev/v1/posts/:id/comments';
  const createdAt = new Date();
  const id = newId('cmt', createdAt);
  const [author] = await database.rows<AuthorRow>(sql.FIND_AUTHOR, [userId]);
  const added = await database.transaction(async (run) => {
    if ((await run(sql.INCREMENT_COMMENT_COUNT, [postId, userId])) !== 1) return false;
    await run(sql.INSERT_COMMENT, [id, postId, userId, text, createdAt]);
    return true;
  });
  if (!added || !author) return { route, status: 404, body: { error: 'not_found' } };
  const comment = { id, text, parentId: null, createdAt, ...author };
  return { route, status: 201, body: commentResponse(comment, postId) };
}

async function deletePost({ userId }: Caller, id: string): Promise<PeerResponse> {
  const route = 'DELETE /dev/v1/posts/:id';
  const deleted = await database.transaction(async (run) => {
    if ((await run(sql.DELETE_POST, [new Date(), id, userId])) !== 1) return false;
    await run(sql.DECREMENT_POST_COUNT, [userId]);
    return true;
  });
  return deleted
    ? { route, status: 200, body: { id, deleted: true } }
    : { route, status: 404, body: { error: 'not_found' } };
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  return JSON.parse(text) as Record<string, unknown>;
}
