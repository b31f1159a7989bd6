/** SQL equivalent to the statements of the service. */
export const FIND_ACCESS = `
  SELECT token.scope, token.expires_at, token.revoked_at, grants.revoked_at AS grant_revoked_at,
    grants.id AS grant_id, users.id AS user_id, users.status AS user_status, apps.client_id, apps.status AS app_status,
    app_quotas.monthly_post_limit
  FROM access_tokens token
  JOIN grants ON grants.id = token.grant_id
  JOIN apps ON apps.client_id = grants.client_id
  JOIN users ON users.id = grants.user_id
  LEFT JOIN app_quotas ON app_quotas.client_id = grants.client_id
  WHERE token.hash = ?`;

export const FIND_PROFILE =
  'SELECT id, name, photo_url AS photoUrl, karma, neighborhood FROM users WHERE id = ?';

export const FIND_POST = `
  SELECT id, content, tags, reach_km AS reachKm, visibility, created_at AS createdAt, comment_count AS commentCount
  FROM posts WHERE id = ? AND user_id = ? AND deleted_at IS NULL`;

export const FIND_COMMENT_COUNT =
  'SELECT comment_count AS total FROM posts WHERE id = ? AND user_id = ? AND deleted_at IS NULL';

export const FIND_POST_COUNT = 'SELECT post_count AS total FROM users WHERE id = ?';

export const LIST_POSTS = `
  SELECT posts.id, posts.content, posts.created_at AS createdAt
  FROM posts
  JOIN (
    SELECT id FROM posts USE INDEX (ix_posts_user_id)
    WHERE user_id = ? AND deleted_at IS NULL ORDER BY id DESC LIMIT ? OFFSET ?
  ) page ON page.id = posts.id
  ORDER BY posts.id DESC`;

export const LIST_COMMENTS = `
  SELECT comments.id, comments.text, comments.parent_id AS parentId, comments.created_at AS createdAt,
    users.id AS authorId, users.name AS authorName, users.photo_url AS authorPhotoUrl
  FROM comments
  JOIN (
    SELECT id FROM comments USE INDEX (ix_comments_post_id)
    WHERE post_id = ? AND deleted_at IS NULL ORDER BY id DESC LIMIT ? OFFSET ?
  ) page ON page.id = comments.id
  JOIN users ON users.id = comments.user_id
  ORDER BY comments.id DESC`;

export const INSERT_POST = `
  INSERT INTO posts (id, user_id, client_id, title, content, type, images, tags, latitude, longitude, reach_km,
    visibility, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export const INCREMENT_POST_COUNT =
  "UPDATE users SET post_count = post_count + 1 WHERE id = ? AND status = 'active'";

export const FIND_AUTHOR =
  'SELECT id AS authorId, name AS authorName, photo_url AS authorPhotoUrl FROM users WHERE id = ?';

export const INSERT_COMMENT =
  'INSERT INTO comments (id, post_id, user_id, text, created_at) VALUES (?, ?, ?, ?, ?)';

export const INCREMENT_COMMENT_COUNT =
  'UPDATE posts SET comment_count = comment_count + 1 WHERE id = ? AND user_id = ? AND deleted_at IS NULL';

export const DELETE_POST =
  'UPDATE posts SET deleted_at = ? WHERE id = ? AND user_id = ? AND deleted_at IS NULL';

export const DECREMENT_POST_COUNT = 'UPDATE users SET post_count = post_count - 1 WHERE id = ?';

export const INSERT_CALL = `
  INSERT INTO api_calls (at, id, client_id, user_id, route, status, duration_ms, request_id, metered)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export const INSERT_CALLS = INSERT_CALL.replace(/VALUES .*/, 'VALUES ?');

export const COUNT_AGAINST_QUOTA =
  'UPDATE quota_usage SET used = used + 1 WHERE client_id = ? AND period = ? AND used < ?';

export const INSERT_QUOTA_MONTH =
  'INSERT INTO quota_usage (client_id, period, used) VALUES (?, ?, 0) ON DUPLICATE KEY UPDATE used = used';

export const FIND_USED = 'SELECT used FROM quota_usage WHERE client_id = ? AND period = ?';
