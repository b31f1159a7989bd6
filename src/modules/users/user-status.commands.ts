import type { Command } from 'commander';
import {
  examples,
  type Answer,
  type RunCommand,
  type Session,
} from '../../command-line/command.js';
import { textUpTo } from '../../command-line/option-values.js';
import { table } from '../../command-line/tables.js';
import { userJson } from './user-answer.js';
import { PHONE_WANTED } from './user-fields.js';
import type { User } from './user.entity.js';
import type { UsersService } from './users.service.js';

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
      const { parsePhone } = await import('../../common/phone-number.js');
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
    .addHelpText('before', examples(`user ${verb} ${USER_ID} --reason "Asked by the member"`));
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
  const { maskPhone } = await import('../../common/phone-number.js');
  const phone = full ? user.phone : maskPhone(user.phone);
  const json = { ...userJson(user, phone), posts: user.postCount };
  const rows = Object.entries(json).map(([name, value]) => [name, String(value ?? '')]);
  return { json, text: table(rows) };
}

async function usersOf(session: Session): Promise<UsersService> {
  const { UsersService: type } = await import('./users.service.js');
  return session.get(type);
}
