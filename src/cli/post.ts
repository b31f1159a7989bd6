import type { Command } from 'commander';
import { examples, type Answer, type RunCommand } from './command.js';
import { textUpTo } from './option-values.js';
import type { Restoration } from '../modules/posts/posts.service.js';

const RESTORE = 'post restore post_01h455vb4pex5vsknk084sn02q';

/** `post restore`. */
export function addPostCommands(program: Command, run: RunCommand): void {
  const post = program
    .command('post')
    .description('What users published.')
    .addHelpText('before', examples(RESTORE));

  post
    .command('restore')
    .summary('Bring back a post that was deleted.')
    .description(
      'Bring back a post that was deleted, for as many days as DELETED_POST_DAYS says. Its likes and comments come back with it, but for the comments that were deleted themselves. Safe to run twice.',
    )
    .argument('<post_id>', 'as in the permalink of the post')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples(`${RESTORE} --reason "Deleted by mistake"`, `${RESTORE} --json`),
    )
    .action((id: string, _options, command: Command) =>
      run(command, async (session) => {
        const { PostsService } = await import('../modules/posts/posts.service.js');
        return restorationAnswer(await session.get(PostsService).restore(id, session.change));
      }),
    );
}

function restorationAnswer({ id, userId, restored }: Restoration): Answer {
  return {
    json: { id, user_id: userId, restored },
    text: restored ? `Restored ${id} of ${userId}.` : `${id} of ${userId} is not deleted.`,
    ...(!restored && { remark: 'Nothing was changed.' }),
  };
}
