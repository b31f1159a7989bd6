import type { User } from '../../modules/users/user.entity.js';
import type { Part } from '../../platform/database/list-page.js';
import {
  type CliCommand,
  EXAMPLE_USER,
  listResult,
  type PagingOptions,
  type Result,
} from '../command.js';
import { parseUserId, textUpTo } from '../option-values.js';
import type { Session } from '../session.js';
import { keyValues, membersOf } from '../tables.js';

interface ListOptions extends PagingOptions {
  full?: boolean;
}

/** The members of a user, besides the number of posts. */
export const USER_MEMBERS =
  'id, external_id, phone, name, neighborhood, photo_url, latitude, longitude, status, created_at';
const FULL = ['--full', 'do not mask the phone numbers'] as const;
const USERS = `{users: [{${USER_MEMBERS}, posts}], next_before}`;
const OLDER = `--before ${EXAMPLE_USER}`;

export function addUserSearchCommands(user: CliCommand): void {
  user
    .command('list')
    .summary('List users, newest first.')
    .description(
      'List users of any status, newest first. If there are more than --limit, a note says how to continue.',
    )
    .option(...FULL)
    .acceptsPaging(parseUserId)
    .printsJson(USERS)
    .examples('user list', `user list --limit 200 ${OLDER} --json`)
    .execute(async (session, { full = false, ...paging }: ListOptions) =>
      usersResult(session, await session.get('UserSearch').list(paging), full),
    );

  user
    .command('search')
    .summary('Find users by name, phone number, external id or id.')
    .description(
      'Find users of any status, newest first. Matches an id, an external id, a phone number or its last four digits, and a part of a name in upper or lower case. The search for an id or a phone number with country code uses an index. Any other search reads all users until enough match.',
    )
    .argument('<text>', 'such as Ana, 0101, +14155550101 or m-1017', textUpTo(200))
    .option(...FULL)
    .acceptsPaging(parseUserId)
    .printsJson(USERS)
    .examples(
      'user search Ana',
      'user search 0101',
      'user search +14155550101 --full',
      `user search "Ana Lee" ${OLDER} --json`,
    )
    .execute(async (session, text: string, { full = false, ...paging }: ListOptions) => {
      const users = await session.get('UserSearch').find(text, paging);
      return usersResult(session, users, full, `No user matches "${text}".`);
    });
}

async function usersResult(
  session: Session,
  users: Part<User>,
  full: boolean,
  none = 'There are no users.',
): Promise<Result> {
  const json = await Promise.all(users.items.map((user) => shownUser(user, full)));
  const rows = json.map(({ id, phone, status, name }) =>
    [id, phone ?? '-', status, name].map(String),
  );
  const text = session.list(['USER_ID', 'PHONE', 'STATUS', 'NAME'], rows, none);
  return listResult('users', users, { json, text });
}

/** The members that `user show` prints. @param full whether the phone number is not masked */
async function shownUser(user: User, full: boolean): Promise<Record<string, unknown>> {
  const { maskPhone } = await import('../../modules/users/phone-number.js');
  const phone = full || user.phone === null ? user.phone : maskPhone(user.phone);
  return membersOf(`${USER_MEMBERS}, posts`, user, { phone, posts: user.postCount });
}

export async function userResult(session: Session, user: User, full = false): Promise<Result> {
  const json = await shownUser(user, full);
  return { json, text: keyValues({ ...json, created_at: session.time(user.createdAt) }) };
}
