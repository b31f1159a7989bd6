import type { Request } from 'express';
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { z } from 'zod';
import { newId } from '../../../src/platform/ids.js';
import { linkHeader, periodOf, permalink, secondsLeft } from '../responses.js';
import { callRow, PUBLISH_ROUTE } from '../call-log.js';
import * as sql from '../statements.js';
import { HttpError } from './authenticate.js';
import { inTransaction } from './database.js';
import type { Write } from './write.js';

const draftSchema = z
  .object({
    title: z.string().max(300).optional(),
    content: z.string().max(10_000).optional(),
    type: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,31}$/)
      .optional(),
    images: z.array(z.url().max(2048)).max(10).optional(),
    tags: z.array(z.string().min(1).max(50)).max(20).optional(),
    latitude: z.number().min(-90).max(90).optional(),
    longitude: z.number().min(-180).max(180).optional(),
    reachKm: z.number().min(0).max(100).optional(),
    visibility: z.enum(['public', 'neighborhood', 'private']).optional(),
  })
  .refine(({ title, content }) => title !== undefined || content !== undefined);

export async function readPost(pool: Pool, userId: string, postId: string): Promise<object> {
  const [[post]] = await pool.execute<RowDataPacket[]>(sql.FIND_POST, [postId, userId]);
  if (!post) throw new HttpError(404, 'not_found');
  const { id, content, tags, reachKm, visibility, createdAt } = post;
  return {
    id,
    content,
    tags: JSON.parse(String(tags)) as string[],
    reachKm,
    visibility,
    permalink: permalink(String(id)),
    createdAt,
  };
}

export async function listPosts(
  pool: Pool,
  userId: string,
  listUrl: string,
  page: number,
  limit: number,
): Promise<{ data: object[]; meta: object; link: string }> {
  const [[count]] = await pool.execute<RowDataPacket[]>(sql.FIND_POST_COUNT, [userId]);
  const total = Number(count?.total ?? 0);
  const offset = (page - 1) * limit;
  const [posts] = await pool.execute<RowDataPacket[]>(sql.LIST_POSTS, [
    userId,
    String(limit),
    String(offset),
  ]);
  const data = posts.map(({ id, content, createdAt }) => ({
    id,
    content,
    permalink: permalink(String(id)),
    createdAt,
  }));
  return { data, meta: { page, limit, total }, link: linkHeader(listUrl, page, limit, total) };
}

export async function createPost(
  pool: Pool,
  write: Write,
  request: Request,
): Promise<{ post: { id: string }; remaining: number; secondsLeft: number }> {
  const { receivedAt, requestId } = request;
  const { userId, clientId, postLimit } = request.access;
  const draft = draftSchema.parse(request.body);
  const now = new Date();
  const id = newId('post', now);
  const period = periodOf(now);
  const added = await write(
    pool,
    request,
    { id, createdAt: now.toISOString() },
    async (connection) => {
      await connection.execute(sql.INSERT_POST, [
        id,
        userId,
        clientId,
        draft.title ?? null,
        draft.content ?? null,
        draft.type ?? 'general',
        JSON.stringify(draft.images ?? []),
        JSON.stringify(draft.tags ?? []),
        draft.latitude ?? null,
        draft.longitude ?? null,
        draft.reachKm ?? null,
        draft.visibility ?? 'public',
        now,
      ]);
      const [increment] = await connection.execute<ResultSetHeader>(sql.INCREMENT_POST_COUNT, [
        userId,
      ]);
      if (increment.affectedRows !== 1) throw new HttpError(401, 'invalid_token');
      const route = PUBLISH_ROUTE;
      const durationMs = now.getTime() - receivedAt.getTime();
      const call = { at: now, clientId, userId, route, status: 201, durationMs, requestId };
      await connection.execute(sql.INSERT_CALL, callRow(call, { countsAgainstQuota: true }));
      const spend = async (): Promise<boolean> => {
        const parameters = [clientId, period, postLimit];
        const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
          sql.COUNT_AGAINST_QUOTA,
          parameters,
        );
        return affectedRows === 1;
      };
      if (await spend()) return;
      await connection.execute(sql.INSERT_QUOTA_MONTH, [clientId, period]);
      if (!(await spend())) throw new HttpError(429, 'quota_exceeded');
    },
  );
  const [[usage]] = await pool.execute<RowDataPacket[]>(sql.FIND_USED, [clientId, period]);
  const post = { ...draft, ...added, permalink: permalink(added.id) };
  const remaining = (postLimit ?? 0) - Number(usage?.used ?? 0);
  return { post, remaining, secondsLeft: secondsLeft(now) };
}

export async function deletePost(pool: Pool, userId: string, id: string): Promise<void> {
  await inTransaction(pool, async (connection) => {
    const own = [new Date(), id, userId];
    const [{ affectedRows }] = await connection.execute<ResultSetHeader>(sql.DELETE_POST, own);
    if (affectedRows !== 1) throw new HttpError(404, 'not_found');
    await connection.execute(sql.DECREMENT_POST_COUNT, [userId]);
  });
}
