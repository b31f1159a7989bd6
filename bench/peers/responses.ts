/** Parts of the hand-written peers: headers and fields of responses, and the check of an access token. */

/** The `Link` header of a page (RFC 8288). @param listUrl URL of the list without a query */
export function linkHeader(listUrl: string, page: number, limit: number, total: number): string {
  const pages = Math.max(1, Math.ceil(total / limit));
  const links = [`<${listUrl}?limit=${limit}>; rel="first"`];
  if (page > 1) links.push(`<${listUrl}?page=${page - 1}&limit=${limit}>; rel="prev"`);
  if (page < pages) links.push(`<${listUrl}?page=${page + 1}&limit=${limit}>; rel="next"`);
  links.push(`<${listUrl}?page=${pages}&limit=${limit}>; rel="last"`);
  return links.join(', ');
}

export const permalink = (postId: string): string => `https://platform.example/post/${postId}`;

/** The month in UTC, such as `2026-11`. */
export const periodOf = (time: Date): string => time.toISOString().slice(0, 7);

/** Seconds until the end of the month in UTC. */
export function secondsLeft(time: Date): number {
  const next = Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
  return Math.ceil((next - time.getTime()) / 1000);
}

export interface AccessRow {
  scope: string;
  expires_at: Date;
  revoked_at: Date | null;
  grant_revoked_at: Date | null;
  grant_id: string;
  user_id: string;
  user_status: string;
  client_id: string;
  app_status: string;
  monthly_post_limit: number | null;
}

/** Whether the access token is valid: it has not expired, neither it nor its grant is revoked, and its user and app are active. */
export function isValid(access: AccessRow | undefined): access is AccessRow {
  return (
    access !== undefined &&
    access.revoked_at === null &&
    access.grant_revoked_at === null &&
    access.user_status === 'active' &&
    access.app_status === 'enabled' &&
    access.expires_at > new Date()
  );
}

/** A row of `FIND_AUTHOR`. */
export interface AuthorRow {
  authorId: string;
  authorName: string;
  authorPhotoUrl: string | null;
}

export interface CommentRow extends AuthorRow {
  id: string;
  text: string;
  parentId: string | null;
  createdAt: Date;
}

export function commentResponse(row: CommentRow, postId: string): object {
  return {
    id: row.id,
    text: row.text,
    parentId: row.parentId,
    author: { id: row.authorId, name: row.authorName, avatar: row.authorPhotoUrl },
    createdAt: row.createdAt,
    permalink: permalink(postId),
  };
}
