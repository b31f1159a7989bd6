import type { AppSummary } from '../../modules/oauth/tokens/grants.service.js';
import { PHONE_REQUIREMENT, fieldParsers } from '../../modules/users/user-fields.js';
import type { User } from '../../modules/users/user.entity.js';
import { isTestUser, type TestMember } from '../../modules/users/test-members.js';
import type { NewUser } from '../../modules/users/users.service.js';
import { type CliCommand, EXAMPLE_USER, listResult, type PagingOptions } from '../command.js';
import type { Result, Session } from '../session.js';
import { optionParser, parseTestCode, parseUserId, textUpTo } from '../option-values.js';
import { formatNumber, keyValues, membersOf } from '../tables.js';
import { addUserDataCommands } from './user-data.js';
import { addUserImportCommand } from './user-import.js';
import type { Part } from '../../platform/database/list-page.js';

/** The name of a test member without `--name`. */
const TEST_NAME = 'Test member';
const ADD_EXAMPLE = 'user add --phone +14155550101 --name "Ana Lee"';
const EXTERNAL_ID_OPTION = [
  '--external-id <id>',
  'id of the member in your network',
  optionParser(fieldParsers.external_id),
] as const;
const SHOW_EXAMPLE = `user show ${EXAMPLE_USER}`;
/** The members of a user, besides the number of posts. */
const USER_MEMBERS =
  'id, external_id, phone, name, neighborhood, photo_url, latitude, longitude, status, test, created_at';
const CODE = [
  '--code <digits>',
  'the fixed code of a test member: six digits',
  parseTestCode,
] as const;
const ANY_NUMBER = [
  '--any-number',
  'allow a test member a number that is not reserved for fiction, and may belong to a person',
] as const;
const FULL = ['--full', 'do not mask the phone numbers'] as const;
const USERS = `{users: [{${USER_MEMBERS}, posts}], next_before}`;
const OLDER = `--before ${EXAMPLE_USER}`;

export function addUserCommands(program: CliCommand): void {
  const user = program
    .command('user')
    .description('Manage the users who can sign in.')
    .examples(ADD_EXAMPLE, 'user import members.csv', SHOW_EXAMPLE, 'user search Ana');

  user
    .command('add')
    .summary('Add a user.')
    .description(
      'Add a user. Fails if another user has the phone number or the external id. With --test, adds a test member, who can sign in only to test apps ("app create --test") and to their own account pages, with a fixed code. No message is sent. The number must be reserved for fiction, such as +1 415 555 0100 to 0199.',
    )
    .requiredOption('--phone <number>', 'with country code, such as +14155550101')
    .option(
      '--name <name>',
      `name to show to other users; by default "${TEST_NAME}" with --test, else required`,
      optionParser(fieldParsers.name),
    )
    .option('--test', 'add a test member; requires --code')
    .option(...CODE)
    .option(...ANY_NUMBER)
    .option(...EXTERNAL_ID_OPTION)
    .option(
      '--neighborhood <name>',
      'default location of posts',
      optionParser(fieldParsers.neighborhood),
    )
    .option('--photo-url <url>', 'http or https URL', optionParser(fieldParsers.photo_url))
    .option('--latitude <degrees>', 'requires --longitude', optionParser(fieldParsers.latitude))
    .option('--longitude <degrees>', 'requires --latitude', optionParser(fieldParsers.longitude))
    .acceptsReason()
    .printsJson(`{${USER_MEMBERS}}`)
    .examples(
      ADD_EXAMPLE,
      `${ADD_EXAMPLE} --neighborhood Riverside --latitude 37.7749 --longitude -122.4194 --json`,
      'user add --test --phone +14155550123 --code 424242',
    )
    .action(
      async (
        { phone: input, reason: _reason, test = false, code, anyNumber, ...given }: AddOptions,
        command: CliCommand,
      ) => {
        if (test !== (code !== undefined) || (anyNumber && !test))
          command.error('error: use --test and --code together, and --any-number only with them');
        const name = given.name ?? (test ? TEST_NAME : undefined);
        if (name === undefined)
          return command.error("error: required option '--name <name>' not specified");
        const profile = { ...given, name };
        if ((profile.latitude === undefined) !== (profile.longitude === undefined))
          command.error('error: use --latitude and --longitude together');
        const phone = await requiredPhone(input, command);
        return command.start(async (session) => {
          const added = await session
            .get('UsersService')
            .add({ phone, ...profile }, session.change, code ? { code, anyNumber } : undefined);
          return {
            json: membersOf(USER_MEMBERS, added, { test }),
            text: keyValues({
              id: added.id,
              ...(added.externalId !== null && { external_id: added.externalId }),
              phone,
              name: added.name,
              ...(test && { test }),
            }),
          };
        });
      },
    );

  addUserImportCommand(user);

  user
    .command('show')
    .description('Show a user by id, phone number or external id.')
    .argument('[user_id]')
    .option('--phone <number>', 'phone number with country code, instead of the id')
    .option('--external-id <id>', 'id of the member in your network, instead of the id')
    .option('--full', 'do not mask the phone number')
    .printsJson(`{${USER_MEMBERS}, posts}`)
    .examples(SHOW_EXAMPLE, 'user show --phone +14155550101 --json', `${SHOW_EXAMPLE} --full`)
    .action(async (id: string | undefined, options: ShowOptions, command: CliCommand) => {
      const { phone: input, externalId, full = false } = options;
      if ([id, input, externalId].filter((key) => key !== undefined).length !== 1)
        return command.error('error: use either a user id, --phone or --external-id');
      const phone = input === undefined ? undefined : await requiredPhone(input, command);
      return command.start(async (session) => {
        const users = session.get('UsersService');
        if (phone !== undefined) return userResult(session, await users.getByPhone(phone), full);
        if (externalId !== undefined)
          return userResult(session, await users.getByExternalId(externalId), full);
        return userResult(session, await users.get(id ?? ''), full);
      });
    });

  addUserSearchCommands(user);

  user
    .command('update')
    .summary('Change the name, external id or code of a user.')
    .description(
      'Change the name or the external id of a user, or the fixed code of a test member. Use "user change-phone" for the phone number, and "user import" for many users.',
    )
    .argument('<user_id>')
    .option('--name <name>', 'name to show to other users', optionParser(fieldParsers.name))
    .option(...EXTERNAL_ID_OPTION)
    .option(...CODE)
    .acceptsReason()
    .printsJson(`{${USER_MEMBERS}, posts}`)
    .examples(
      `user update ${EXAMPLE_USER} --name "Ana Lee-Ortiz" --reason "Married"`,
      `user update ${EXAMPLE_USER} --external-id m-1017`,
    )
    .action((id: string, { name, externalId, code }: UpdateOptions, command: CliCommand) => {
      if (name === undefined && externalId === undefined && code === undefined)
        return command.error('error: use --name, --external-id or --code');
      const values = {
        ...(code !== undefined && { code }),
        ...(name !== undefined && { name }),
        ...(externalId !== undefined && { externalId }),
      };
      return command.start(async (session) => {
        const users = session.get('UsersService');
        const { user: updated, changedNow } = await users.update(id, values, session.change);
        return changedResult(session, updated, changedNow);
      });
    });

  user
    .command('change-phone')
    .summary('Change or remove the phone number of a user.')
    .description(
      'Change or remove the phone number of a user. Revokes all grants and ends all sessions of the user first, because another person may have the old number and sign in with it. With --reassign, a user who already has the number loses it and all access; a test member cannot take the number of a real one.',
    )
    .argument('<user_id>')
    .option('--phone <number>', 'new number with country code, such as +14155550101')
    .option('--none', 'remove the number; the user cannot sign in without one')
    .option('--reassign', 'take the number away from the user who has it')
    .option(...ANY_NUMBER)
    .requiresConfirmation()
    .printsJson('{id, changed, apps?: [{client_id, name}], sessions?}')
    .examples(
      `user change-phone ${EXAMPLE_USER} --phone +14155550102 --reason "New number"`,
      `user change-phone ${EXAMPLE_USER} --none --reason "Number was given up" --yes`,
    )
    .action(async (id: string, options: ChangePhoneOptions, command: CliCommand) => {
      const { phone: input, none = false, reassign = false, anyNumber } = options;
      if ((input === undefined) !== none)
        return command.error('error: use either --phone or --none');
      const phone = input === undefined ? null : await requiredPhone(input, command);
      return command.start(async (session) => {
        const { name, phone: previous } = await session.get('UsersService').get(id);
        if (phone === previous) return { json: { id, changed: false }, text: 'No change.' };
        const others = reassign ? ' of this user and of the user who has the number' : '';
        await session.confirm(
          `Change the phone number of "${name}", and revoke all grants and sessions${others}?`,
        );
        const access = session.get('UserAccess');
        const { apps, sessions } = await access.changePhone(id, phone, session.change, {
          reassign,
          anyNumber,
        });
        return {
          json: { id, changed: true, apps: apps.map(appJson), sessions },
          text: `${phone === null ? 'Removed' : 'Changed'} the phone number of ${id}.`,
          note: `Revoked the grants to ${formatNumber(apps.length, 'app')} and ended ${formatNumber(sessions, 'sign-in session')}.`,
        };
      });
    });

  user
    .command('block')
    .summary('Block a user from sign-in and from all apps.')
    .description(
      'Block a user. Sign-in and all API calls for the user are rejected at once. Deletes nothing; "user unblock" restores access.',
    )
    .argument('<user_id>')
    .requiresConfirmation()
    .printsJson(`{${USER_MEMBERS}, posts}`)
    .examples(`user block ${EXAMPLE_USER} --reason "Requested by the member"`)
    .execute(async (session, id: string) => {
      const { name } = await session.get('UsersService').get(id);
      await session.confirm(`Block "${name}" from sign-in and from all apps?`);
      return changeStatus(session, id, 'blocked');
    });

  user
    .command('unblock')
    .summary('Unblock a user.')
    .description(
      'Unblock a user. Grants that were not revoked and have not expired are valid again.',
    )
    .argument('<user_id>')
    .acceptsReason()
    .printsJson(`{${USER_MEMBERS}, posts}`)
    .examples(`user unblock ${EXAMPLE_USER} --reason "Requested by the member"`)
    .execute((session, id: string) => changeStatus(session, id, 'active'));

  user
    .command('unlock')
    .summary('Unlock sign-in for a user.')
    .description(
      'Unlock sign-in for a user whose phone number is locked after 100 consecutive wrong codes. Without this command, the lock ends with a sign-in on a trusted device: a browser that signed in before.',
    )
    .argument('<user_id>')
    .acceptsReason()
    .printsJson('{id, was_locked, failures}')
    .examples(
      `user unlock ${EXAMPLE_USER} --reason "Called from her own phone"`,
      `user unlock ${EXAMPLE_USER} --json`,
    )
    .execute(async (session, id: string) => {
      const { locked, failures } = await session.get('PhoneLimits').unlock(id, session.change);
      return {
        json: { id, was_locked: locked, failures },
        text: locked
          ? `Unlocked ${id}. The user can sign in again.`
          : `${id} was not locked. Its count of wrong codes was ${failures} and is now 0.`,
      };
    });

  user
    .command('revoke-all')
    .summary('Revoke all grants and sessions of a user.')
    .description(
      'Revoke all grants of a user, with their tokens, and all sign-in sessions and trusted devices. The user can sign in and authorize apps again; use "user block" to prevent that.',
    )
    .argument('<user_id>')
    .acceptsDryRun('list the apps and count the sessions, but revoke nothing')
    .requiresConfirmation()
    .printsJson('{id, dry_run, apps: [{client_id, name}], sessions}')
    .examples(
      `user revoke-all ${EXAMPLE_USER} --dry-run`,
      `user revoke-all ${EXAMPLE_USER} --reason "Lost her phone"`,
      `user revoke-all ${EXAMPLE_USER} --yes --json`,
    )
    .execute(async (session, id: string) => {
      const access = session.get('UserAccess');
      const { name } = await session.get('UsersService').get(id);
      await session.confirm(`Revoke all grants and sessions of "${name}"?`);
      const { isDryRun } = session;
      const ended = isDryRun ? await access.preview(id) : await access.end(id, session.change);
      const { apps, sessions } = ended;
      const rows = apps.map((app) => [app.clientId, app.name]);
      return {
        json: { id, dry_run: isDryRun, apps: apps.map(appJson), sessions },
        text: session.list(
          ['CLIENT_ID', isDryRun ? 'WOULD_REVOKE' : 'REVOKED'],
          rows,
          `The user ${isDryRun ? 'has' : 'had'} no active grants.`,
        ),
        note: `${isDryRun ? 'Would end' : 'Ended'} ${formatNumber(sessions, 'sign-in session')}.`,
      };
    });

  addUserDataCommands(user);
}

interface AddOptions extends Omit<NewUser, 'name'>, Partial<TestMember> {
  name?: string;
  test?: boolean;
  reason?: string;
}

interface ListOptions extends PagingOptions {
  full?: boolean;
}

interface ShowOptions {
  phone?: string;
  externalId?: string;
  full?: boolean;
}

/** The number in E.164. Ends the command with a usage error if it is invalid. */
async function requiredPhone(input: string, command: CliCommand): Promise<string> {
  const { parsePhone } = await import('../../modules/users/phone-number.js');
  return parsePhone(input) ?? command.error(`error: --phone ${PHONE_REQUIREMENT}`);
}

interface UpdateOptions {
  name?: string;
  externalId?: string;
  code?: string;
}

interface ChangePhoneOptions {
  phone?: string;
  none?: boolean;
  reassign?: boolean;
  anyNumber?: boolean;
}

async function changeStatus(session: Session, id: string, status: User['status']): Promise<Result> {
  const users = session.get('UsersService');
  const { user, changedNow } = await users.changeStatus(id, status, session.change);
  return changedResult(session, user, changedNow);
}

async function changedResult(session: Session, user: User, changedNow: boolean): Promise<Result> {
  return { ...(await userResult(session, user)), note: changedNow ? undefined : 'No change.' };
}

function appJson(app: AppSummary): object {
  return membersOf('client_id, name', app);
}

function addUserSearchCommands(user: CliCommand): void {
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
      usersResult(session, await session.get('UsersService').list(paging), full),
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
      const users = await session.get('UsersService').search(text, paging);
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
  const rows = json.map(({ id, phone, status, name, test }) =>
    [id, phone ?? '-', status, test === true ? `${String(name)} (test)` : name].map(String),
  );
  const text = session.list(['USER_ID', 'PHONE', 'STATUS', 'NAME'], rows, none);
  return listResult('users', users, { json, text });
}

/** The members that `user show` prints. @param full whether the phone number is not masked */
async function shownUser(user: User, full: boolean): Promise<Record<string, unknown>> {
  const { maskPhone } = await import('../../modules/users/phone-number.js');
  const phone = full || user.phone === null ? user.phone : maskPhone(user.phone);
  const test = isTestUser(user);
  return membersOf(`${USER_MEMBERS}, posts`, user, { phone, posts: user.postCount, test });
}

async function userResult(session: Session, user: User, full = false): Promise<Result> {
  const json = await shownUser(user, full);
  return { json, text: keyValues({ ...json, created_at: session.time(user.createdAt) }) };
}
