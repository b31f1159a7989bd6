import type { Command } from 'commander';
import type { Lifted } from '../modules/oauth/sign-in/phone-lock.js';
import type { EndedAccess } from '../modules/oauth/user-access.service.js';
import { PHONE_WANTED, readers } from '../modules/users/user-fields.js';
import type { User } from '../modules/users/user.entity.js';
import type { NewUser, UsersService } from '../modules/users/users.service.js';
import { type Answer, examples, type RunCommand, type Session } from './command.js';
import { option, textUpTo } from './option-values.js';
import { list, table } from './tables.js';
import { addUserImportCommand } from './user-import.js';

/** A user as `--json` tells; `phone` as it may be shown. */
export function userJson(user: User, phone: string): Record<string, unknown> {
  const { id, name, neighborhood, photoUrl, latitude, longitude, status, createdAt } = user;
  return {
    id,
    phone,
    name,
    neighborhood,
    photo_url: photoUrl,
    latitude,
    longitude,
    status,
    created_at: createdAt.toISOString(),
  };
}

export const ADD_EXAMPLE = 'user add --phone +14155550101 --name "Ana Lee"';

interface AddOptions {
  phone: string;
  name: string;
  neighborhood?: string;
  photoUrl?: string;
  latitude?: number;
  longitude?: number;
}

/** `user add`. */
export function addUserAddCommand(user: Command, run: RunCommand): void {
  user
    .command('add')
    .description('Add a user. Refused when another user has the phone.')
    .requiredOption('--phone <number>', 'with country code, such as +14155550101')
    .requiredOption('--name <name>', 'as shown to neighbours', option(readers.name))
    .option(
      '--neighborhood <name>',
      'where posts without a location are placed',
      option(readers.neighborhood),
    )
    .option('--photo-url <url>', 'http or https', option(readers.photo_url))
    .option('--latitude <degrees>', 'together with --longitude', option(readers.latitude))
    .option('--longitude <degrees>', 'together with --latitude', option(readers.longitude))
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples(
        ADD_EXAMPLE,
        `${ADD_EXAMPLE} --neighborhood Riverside --latitude 37.7749 --longitude -122.4194 --json`,
      ),
    )
    .action(async ({ phone: typed, ...rest }: AddOptions, command: Command) => {
      if ((rest.latitude === undefined) !== (rest.longitude === undefined))
        command.error('error: --latitude and --longitude belong together');
      const { parsePhone } = await import('../modules/users/phone-number.js');
      const phone = parsePhone(typed);
      if (phone === undefined) return command.error(`error: --phone ${PHONE_WANTED}`);
      return run(command, async (session) => {
        const { UsersService } = await import('../modules/users/users.service.js');
        const { name, ...place } = rest;
        const service = session.get(UsersService);
        const added = await service.add({ phone, name, ...profileOf(place) }, session.change);
        return {
          json: userJson(added, phone),
          text: table([
            ['id', added.id],
            ['phone', phone],
            ['name', name],
          ]),
        };
      });
    });
}

function profileOf(options: Omit<AddOptions, 'phone' | 'name'>): Partial<NewUser> {
  const { neighborhood, photoUrl, latitude, longitude } = options;
  return {
    ...(neighborhood !== undefined && { neighborhood }),
    ...(photoUrl !== undefined && { photoUrl }),
    ...(latitude !== undefined && { latitude }),
    ...(longitude !== undefined && { longitude }),
  };
}

const USER_ID = 'usr_01h455vb4pex5vsknk084sn02q';

export const SHOW_EXAMPLE = `user show ${USER_ID}`;

interface ShowOptions {
  phone?: string;
  full?: boolean;
}

/** `user show|block|unblock`. */
export function addUserStatusCommands(user: Command, run: RunCommand): void {
  addShow(user, run);
  addStatus(user, run, 'blocked');
  addStatus(user, run, 'active');
}

function addShow(user: Command, run: RunCommand): void {
  user
    .command('show')
    .description('Show one user, found by id or by phone. Changes nothing.')
    .argument('[user_id]')
    .option('--phone <number>', 'in place of the id, with country code')
    .option('--full', 'show the whole phone number, which is masked otherwise')
    .addHelpText(
      'before',
      examples(SHOW_EXAMPLE, 'user show --phone +14155550101 --json', `${SHOW_EXAMPLE} --full`),
    )
    .action(async (id: string | undefined, options: ShowOptions, command: Command) => {
      const { phone: typed, full = false } = options;
      if ((id === undefined) === (typed === undefined))
        return command.error('error: give either a user id or --phone');
      const { parsePhone } = await import('../modules/users/phone-number.js');
      const phone = typed === undefined ? undefined : parsePhone(typed);
      if (id === undefined && phone === undefined)
        return command.error(`error: --phone ${PHONE_WANTED}`);
      return run(command, async (session) => {
        const users = await usersOf(session);
        const found = phone === undefined ? users.show(id ?? '') : users.showByPhone(phone);
        return userAnswer(await found, { full });
      });
    });
}

function addStatus(user: Command, run: RunCommand, status: User['status']): void {
  const blocking = status === 'blocked';
  const verb = blocking ? 'block' : 'unblock';
  const command = user
    .command(verb)
    .summary(blocking ? 'Shut a user out.' : 'Let a blocked user in again.')
    .description(
      blocking
        ? 'Shut a user out: no app opens their account from the next call on, and they cannot sign in. Nothing is deleted; "user unblock" takes it back. Safe to repeat. Asks first at a terminal; scripts and --json are not asked.'
        : 'Let a blocked user in again: what apps were granted works again, unless it was revoked or has expired meanwhile. Safe to repeat.',
    )
    .argument('<user_id>')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples(`user ${verb} ${USER_ID} --reason "PendingRequest by the member"`),
    );
  if (blocking) command.option('--yes', 'do not ask');
  command.action((id: string) =>
    run(command, async (session) => {
      const users = await usersOf(session);
      const { name } = await users.show(id);
      if (blocking) await session.confirm(`Shut "${name}" out of every app and of sign-in?`);
      const { user: changed, changedNow } = await users.changeStatus(id, status, session.change);
      const answer = await userAnswer(changed, { full: false });
      return { ...answer, ...(!changedNow && { remark: 'It was like this already.' }) };
    }),
  );
}

async function userAnswer(user: User, { full }: { full: boolean }): Promise<Answer> {
  const { maskPhone } = await import('../modules/users/phone-number.js');
  const phone = full ? user.phone : maskPhone(user.phone);
  const json = { ...userJson(user, phone), posts: user.postCount };
  const rows = Object.entries(json).map(([name, value]) => [name, String(value ?? '')]);
  return { json, text: table(rows) };
}

async function usersOf(session: Session): Promise<UsersService> {
  const { UsersService: type } = await import('../modules/users/users.service.js');
  return session.get(type);
}

/** `user unlock`, which spans users and sign-in. */
export function addUserUnlockCommand(user: Command, run: RunCommand): void {
  user
    .command('unlock')
    .summary('Let a user sign in whose phone is locked.')
    .description(
      'Let a user sign in again whose phone is locked after 100 wrong codes in a row. Without this, the lock ends after 24 hours.',
    )
    .argument('<user_id>')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples(
        'user unlock usr_01h455vb4pex5vsknk084sn02q --reason "Called from her own phone"',
        'user unlock usr_01h455vb4pex5vsknk084sn02q --json',
      ),
    )
    .action((userId: string, _options, command: Command) =>
      run(command, async (session) => {
        const { PhoneLock } = await import('../modules/oauth/sign-in/phone-lock.js');
        return unlockAnswer(userId, await session.get(PhoneLock).lift(userId, session.change));
      }),
    );
}

function unlockAnswer(id: string, { locked, failures }: Lifted): Answer {
  return {
    json: { id, was_locked: locked, failures },
    text: locked
      ? `Unlocked ${id}. The user may sign in now.`
      : `${id} was not locked. The count of wrong codes is now 0; it was ${failures}.`,
  };
}

const EXAMPLE = 'user revoke-all usr_01h455vb4pex5vsknk084sn02q';

/** `user revoke-all`, which spans users, grants and sign-in. */
export function addUserRevokeAllCommand(user: Command, run: RunCommand): void {
  user
    .command('revoke-all')
    .summary('End every access to an account.')
    .description(
      'End every access to a user\'s account: every grant, so every token of every app, and every sign-in session. The user may sign in and allow apps again; "user block" shuts them out. Safe to repeat. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<user_id>')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(`${EXAMPLE} --reason "Lost her phone"`, `${EXAMPLE} --yes --json`),
    )
    .action((id: string, _options, command: Command) =>
      run(command, async (session) => {
        const [{ UserAccess }, { UsersService }] = await Promise.all([
          import('../modules/oauth/user-access.service.js'),
          import('../modules/users/users.service.js'),
        ]);
        const { name } = await session.get(UsersService).show(id);
        await session.confirm(`Take the account of "${name}" away from every app and browser?`);
        return endedAnswer(id, await session.get(UserAccess).end(id, session.change));
      }),
    );
}

function endedAnswer(id: string, { apps, sessions }: EndedAccess): Answer {
  const lost = list(
    ['CLIENT_ID', 'LOST ACCESS'],
    apps.map(({ clientId, name }) => [clientId, name]),
  );
  return {
    json: { id, apps: apps.map(({ clientId, name }) => ({ client_id: clientId, name })), sessions },
    text: apps.length > 0 ? lost : 'No app had access.',
    remark: `Signed out of ${sessions} ${sessions === 1 ? 'browser' : 'browsers'}.`,
  };
}

/** `user add|import|show|block|unblock`. Answers the group, for commands that span modules. */
export function addUserCommands(program: Command, run: RunCommand): Command {
  const user = program
    .command('user')
    .description('The members of the network who may sign in.')
    .addHelpText('before', examples(ADD_EXAMPLE, 'user import members.csv', SHOW_EXAMPLE));
  addUserAddCommand(user, run);
  addUserImportCommand(user, run);
  addUserStatusCommands(user, run);
  return user;
}
