import type { CliCommand } from '../command.js';

const RESTORE = 'post restore post_01h455vb4pex5vsknk084sn02q';

export function addPostCommands(program: CliCommand): void {
  const post = program.command('post').description('What users published.').examples(RESTORE);

  post
    .command('restore')
    .summary('Bring back a post that was deleted.')
    .description(
      'Bring back a post that was deleted, for as many days as DELETED_POST_DAYS says. Its likes and comments come back with it, but for the comments that were deleted themselves. Safe to run twice.',
    )
    .argument('<post_id>', 'as in the permalink of the post')
    .audited()
    .examples(`${RESTORE} --reason "Deleted by mistake"`, `${RESTORE} --json`)
    .execute(async (session, postId: string) => {
      const posts = session.get('PostsService');
      const { id, userId, restored } = await posts.restore(postId, session.change);
      return {
        json: { id, user_id: userId, restored },
        text: restored ? `Restored ${id} of ${userId}.` : `${id} of ${userId} is not deleted.`,
        ...(!restored && { note: 'Nothing was changed.' }),
      };
    });
}
