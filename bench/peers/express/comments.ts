import type { Pool, RowDataPacket } from 'mysql2/promise';
import { commentResponse, linkHeader, type CommentRow } from '../responses.js';
import * as sql from '../statements.js';
import { HttpError } from './authenticate.js';

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
