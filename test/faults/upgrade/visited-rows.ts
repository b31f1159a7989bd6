import { In, type DataSource } from 'typeorm';
import { AuditEvent } from '../../../src/audit/audit-event.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import { REMARK, type Visits } from './visits.js';

/** What was recorded of each access token, with its grant as the subject. */
const ISSUED = ['token.issued', 'token.refreshed'];

/**
 * Asserts that what visits wrote is there: as many access tokens of each grant as are recorded, and each comment that was
 * acknowledged. Those of a visit that was put off may be there.
 */
export async function expectVisited(
  { manager }: DataSource,
  { comments, done, putOff }: Visits,
  { id: userId }: User,
): Promise<void> {
  const tokens = await manager.find(AccessToken);
  const events = await manager.findBy(AuditEvent, { action: In(ISSUED) });
  expect(countsOf(tokens.map(({ grantId }) => grantId))).toEqual(
    countsOf(events.map(({ subject }) => subject)),
  );
  // One by the code and one by the refresh token.
  expect(tokens.length).toBeGreaterThanOrEqual(2 * done);
  const said = await manager.findBy(Comment, { userId, text: REMARK });
  const ids = said.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id);
  expect(comments.length).toBeGreaterThanOrEqual(done);
  expect(ids).toEqual(expect.arrayContaining(comments));
  expect(said.length).toBeLessThanOrEqual(done + putOff);
}

/** How often each of them comes. */
function countsOf(ids: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}
