import type { Command } from 'commander';
import { examples, type Answer, type RunCommand } from '../../../command-line/command.js';
import { textUpTo } from '../../../command-line/option-values.js';
import type { Lifted } from './phone-lock.js';

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
        const { PhoneLock } = await import('./phone-lock.js');
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
