import type { Request } from 'express';
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { z } from 'zod';
import { newId } from '../../../src/platform/ids.js';
import { commentResponse, linkHeader, type AuthorRow, type CommentRow } from '../responses.js';
import * as sql from '../statements.js';
import { HttpError } from './authenticate.js';
import type { Write } from './write.js';

const draftSchema = z.object({ text: z.string().min(1).max(2000) });

export async function listComments(
  pool: Pool,
  userId: string,
  postId: string,
  listUrl: string,
  page: number,
  limit: number,
): Promise<{ data: object[]; meta: object; link: string }> {
  const [[post]] = await pool.execute<RowDataPacket[]>(sql.FIND_COMMENT_COUNT, [postId, userId]);
  if (!post) throw new HttpError(404, 'not_found');
  const offset = (page - 1) * limit;
  const [comments] = await pool.execute<(RowDataPacket & CommentRow)[]>(sql.LIST_COMMENTS, [
    postId,
    String(limit),
    String(offset),
  ]);
  const total = Number(post.total);
  return {
    data: comments.map((comment) => commentResponse(comment, postId)),
    meta: { page, limit, total },
    link: linkHeader(listUrl, page, limit, total),
  };
}

export async function createComment(pool: Pool, write: Write, request: Request): Promise<object> {
  const { userId } = request.access;
  const postId = String(request.params.id);
  const { text } = draftSchema.parse(request.body);
  const now = new Date();
  const id = newId('cmt', now);
  const [[author]] = await pool.execute<(RowDataPacket & AuthorRow)[]>(sql.FIND_AUTHOR, [userId]);
  if (!author) throw new HttpError(401, 'invalid_token');
  const added = await write(
    pool,
    request,
    { id, createdAt: now.toISOString() },
    async (connection) => {
      const [increment] = await connection.execute<ResultSetHeader>(sql.INCREMENT_COMMENT_COUNT, [
        postId,
        userId,
      ]);
      if (increment.affectedRows !== 1) throw new HttpError(404, 'not_found');
      await connection.execute(sql.INSERT_COMMENT, [id, postId, userId, text, now]);
    },
  );
  const createdAt = new Date(added.createdAt);
  return commentResponse({ ...author, id: added.id, text, parentId: null, createdAt }, postId);
}
