import { changeResult, type CliCommand } from '../command.js';

const REMOVE = 'comment remove cmt_01h455vb4pex5vsknk084sn02q';

export function addCommentCommands(program: CliCommand): void {
  program
    .command('comment')
    .description('Remove comments.')
    .examples(REMOVE)
    .command('remove')
    .summary('Remove a comment of any user.')
    .description(
      'Remove a comment of any user. Apps stop listing it at once. Replies to it stay. This cannot be undone; the comment is deleted from the database after DELETED_POST_DAYS days.',
    )
    .argument('<comment_id>', 'id of the comment, as the API returns it')
    .requiresConfirmation()
    .printsJson('{id, user_id, post_id, removed}')
    .examples(`${REMOVE} --reason "Reported as spam"`, `${REMOVE} --yes --json`)
    .execute(async (session, commentId: string) => {
      const comments = session.get('CommentsService');
      const { id, userId, postId, deletedAt } = await comments.get(commentId);
      if (!deletedAt)
        await session.confirm(`Remove ${id} of ${await session.userLabel(userId)} on ${postId}?`);
      const removed = await comments.remove(id, session.change);
      const subject = `${id} of ${userId} on ${postId}`;
      return changeResult(removed, { id, user_id: userId, post_id: postId, removed }, [
        `Removed ${subject}.`,
        `${subject} is already deleted.`,
      ]);
    });
}
