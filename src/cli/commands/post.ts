import type { CliCommand } from '../command.js';

const REMOVE = 'post remove post_01h455vb4pex5vsknk084sn02q';
const RESTORE = 'post restore post_01h455vb4pex5vsknk084sn02q';

export function addPostCommands(program: CliCommand): void {
  const post = program
    .command('post')
    .description('Remove posts, and restore deleted posts.')
    .examples(REMOVE, RESTORE);

  post
    .command('remove')
    .summary('Remove a post of any user.')
    .description(
      'Remove a post of any user. Apps and its public page return 404 at once. For DELETED_POST_DAYS days, "post restore" restores it.',
    )
    .argument('<post_id>', 'last part of its permalink')
    .requiresConfirmation()
    .examples(`${REMOVE} --reason "Reported as spam"`, `${REMOVE} --yes --json`)
    .execute(async (session, postId: string) => {
      const posts = session.get('PostsService');
      await session.confirm(`Remove ${postId} of ${await posts.authorOf(postId)}?`);
      const { id, userId, removed } = await posts.remove(postId, session.change);
      return {
        json: { id, user_id: userId, removed },
        text: removed ? `Removed ${id} of ${userId}.` : `${id} of ${userId} is already deleted.`,
        ...(!removed && { note: 'No change.' }),
      };
    });

  post
    .command('restore')
    .summary('Restore a deleted post.')
    .description(
      'Restore a post that was deleted or removed less than DELETED_POST_DAYS days ago, with its likes and comments. Comments that were deleted separately stay deleted.',
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
