import { PHONE_WANTED, readers } from '../../modules/users/user-fields.js';
import type { User } from '../../modules/users/user.entity.js';
import type { NewUser } from '../../modules/users/users.service.js';
import type { CliCommand, Result } from '../command.js';
import { option } from '../option-values.js';
import { keyValues, list } from '../tables.js';
import { addUserEraseCommand, addUserExportCommand } from './user-data.js';
import { addUserImportCommand } from './user-import.js';

const ADD_EXAMPLE = 'user add --phone +14155550101 --name "Ana Lee"';
const USER_ID = 'usr_01h455vb4pex5vsknk084sn02q';
const SHOW_EXAMPLE = `user show ${USER_ID}`;

export function addUserCommands(program: CliCommand): void {
  const user = program
    .command('user')
    .description('The members of the network who may sign in.')
    .examples(ADD_EXAMPLE, 'user import members.csv', SHOW_EXAMPLE);
  addAdd(user);
  addUserImportCommand(user);
  addShow(user);
  addStatus(user, 'blocked');
  addStatus(user, 'active');
  addUnlock(user);
  addRevokeAll(user);
  addUserExportCommand(user);
  addUserEraseCommand(user);
}

type AddOptions = NewUser & { reason?: string };

function addAdd(user: CliCommand): void {
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
    .audited()
    .examples(
      ADD_EXAMPLE,
      `${ADD_EXAMPLE} --neighborhood Riverside --latitude 37.7749 --longitude -122.4194 --json`,
    )
    .action(
      async ({ phone: typed, reason: _reason, ...profile }: AddOptions, command: CliCommand) => {
        if ((profile.latitude === undefined) !== (profile.longitude === undefined))
          command.error('error: --latitude and --longitude belong together');
        const { parsePhone } = await import('../../modules/users/phone-number.js');
        const phone = parsePhone(typed);
        if (phone === undefined) return command.error(`error: --phone ${PHONE_WANTED}`);
        return command.start(async (session) => {
          const added = await session
            .get('UsersService')
            .add({ phone, ...profile }, session.change);
          return {
            json: userJson(added, phone),
            text: keyValues({ id: added.id, phone, name: added.name }),
          };
        });
      },
    );
}

interface ShowOptions {
  phone?: string;
  full?: boolean;
}

function addShow(user: CliCommand): void {
  user
    .command('show')
    .description('Show one user, found by id or by phone. Changes nothing.')
    .argument('[user_id]')
    .option('--phone <number>', 'in place of the id, with country code')
    .option('--full', 'show the whole phone number, which is masked otherwise')
    .examples(SHOW_EXAMPLE, 'user show --phone +14155550101 --json', `${SHOW_EXAMPLE} --full`)
    .action(async (id: string | undefined, options: ShowOptions, command: CliCommand) => {
      const { phone: typed, full = false } = options;
      if ((id === undefined) === (typed === undefined))
        return command.error('error: give either a user id or --phone');
      const { parsePhone } = await import('../../modules/users/phone-number.js');
      const phone = typed === undefined ? undefined : parsePhone(typed);
      if (id === undefined && phone === undefined)
        return command.error(`error: --phone ${PHONE_WANTED}`);
      return command.start(async (session) => {
        const users = session.get('UsersService');
        const found = phone === undefined ? users.show(id ?? '') : users.showByPhone(phone);
        return userResult(await found, { full });
      });
    });
}

function addStatus(user: CliCommand, status: User['status']): void {
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
    .examples(`user ${verb} ${USER_ID} --reason "Requested by the member"`)
    .execute(async (session, id: string) => {
      const users = session.get('UsersService');
      const { name } = await users.show(id);
      if (blocking) await session.confirm(`Shut "${name}" out of every app and of sign-in?`);
      const { user: changed, changedNow } = await users.changeStatus(id, status, session.change);
      const result = await userResult(changed, { full: false });
      return { ...result, ...(!changedNow && { note: 'It was like this already.' }) };
    });
  if (blocking) command.confirmed();
  else command.audited();
}

function userJson(user: User, phone: string): Record<string, unknown> {
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

async function userResult(user: User, { full }: { full: boolean }): Promise<Result> {
  const { maskPhone } = await import('../../modules/users/phone-number.js');
  const phone = full ? user.phone : maskPhone(user.phone);
  const json = { ...userJson(user, phone), posts: user.postCount };
  return { json, text: keyValues(json) };
}

function addUnlock(user: CliCommand): void {
  user
    .command('unlock')
    .summary('Let a user sign in whose phone is locked.')
    .description(
      'Let a user sign in again whose phone is locked after 100 wrong codes in a row. Without this, the lock ends after 24 hours.',
    )
    .argument('<user_id>')
    .audited()
    .examples(
      `user unlock ${USER_ID} --reason "Called from her own phone"`,
      `user unlock ${USER_ID} --json`,
    )
    .execute(async (session, id: string) => {
      const { locked, failures } = await session.get('PhoneLock').unlock(id, session.change);
      return {
        json: { id, was_locked: locked, failures },
        text: locked
          ? `Unlocked ${id}. The user may sign in now.`
          : `${id} was not locked. The count of wrong codes is now 0; it was ${failures}.`,
      };
    });
}

function addRevokeAll(user: CliCommand): void {
  user
    .command('revoke-all')
    .summary('End every access to an account.')
    .description(
      'End every access to a user\'s account: every grant, so every token of every app, and every sign-in session. The user may sign in and allow apps again; "user block" shuts them out. Safe to repeat. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<user_id>')
    .confirmed()
    .examples(
      `user revoke-all ${USER_ID} --reason "Lost her phone"`,
      `user revoke-all ${USER_ID} --yes --json`,
    )
    .execute(async (session, id: string) => {
      const { name } = await session.get('UsersService').show(id);
      await session.confirm(`Take the account of "${name}" away from every app and browser?`);
      const { apps, sessions } = await session.get('UserAccess').end(id, session.change);
      const rows = apps.map((app) => [app.clientId, app.name]);
      return {
        json: {
          id,
          apps: apps.map((app) => ({ client_id: app.clientId, name: app.name })),
          sessions,
        },
        text: apps.length > 0 ? list(['CLIENT_ID', 'LOST ACCESS'], rows) : 'No app had access.',
        note: `Signed out of ${sessions} ${sessions === 1 ? 'browser' : 'browsers'}.`,
      };
    });
}
