import type { Command } from 'commander';
import { examples, type Answer, type RunCommand } from '../../../command-line/command.js';
import { textUpTo } from '../../../command-line/option-values.js';
import { list } from '../../../command-line/tables.js';
import type { EndedAccess } from './user-access.service.js';

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
          import('./user-access.service.js'),
          import('../../users/users.service.js'),
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
