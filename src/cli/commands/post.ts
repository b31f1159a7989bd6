import type { CliCommand } from '../command.js';

const RESTORE = 'post restore post_01h455vb4pex5vsknk084sn02q';

export function addPostCommands(program: CliCommand): void {
  const post = program.command('post').description('Restore deleted posts.').examples(RESTORE);

  post
    .command('restore')
    .summary('Restore a deleted post.')
    .description(
      'Restore a post that was deleted less than DELETED_POST_DAYS days ago, with its likes and comments. Comments that were deleted separately stay deleted.',
    )
    .argument('<post_id>', 'last part of its permalink')
    .acceptsReason()
    .examples(`${RESTORE} --reason "Deleted by mistake"`, `${RESTORE} --json`)
    .execute(async (session, postId: string) => {
      const posts = session.get('PostsService');
      const { id, userId, restored } = await posts.restore(postId, session.change);
      return {
        json: { id, user_id: userId, restored },
        text: restored ? `Restored ${id} of ${userId}.` : `${id} of ${userId} is not deleted.`,
        ...(!restored && { note: 'No change.' }),
      };
    });
}
