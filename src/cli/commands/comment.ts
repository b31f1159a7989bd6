import {
  changeResult,
  type CliCommand,
  EXAMPLE_APP,
  EXAMPLE_USER,
  type ItemOptions,
  itemSearch,
  listResult,
} from '../command.js';
import { parseCommentId } from '../option-values.js';
import { membersOf } from '../tables.js';

const MEMBERS = 'id, post_id, parent_id, user_id, client_id, created_at, deleted_at';
const LIST = `comment list --user ${EXAMPLE_USER}`;
const REMOVE = 'comment remove cmt_01h455vb4pex5vsknk084sn02q';

export function addCommentCommands(program: CliCommand): void {
  const comment = program
    .command('comment')
    .description('List and remove comments.')
    .examples(LIST, REMOVE);

  comment
    .command('list')
    .summary('List comments, newest first.')
    .description(
      'List the comments of a user, an app or all users, newest first, also deleted ones for DELETED_POST_DAYS days. Comments of the network itself, and those before version 1.2, have no app. Prints the text only with --full.',
    )
    .acceptsItems('comments')
    .acceptsPaging(parseCommentId)
    .option('--full', 'also print the text')
    .printsJson(`{comments: [{${MEMBERS}, text?}], next_before}`)
    .examples(LIST, `comment list --app ${EXAMPLE_APP} --since 7d --full`, `${LIST} --json`)
    .execute(async (session, options: ItemOptions & { full?: boolean }) => {
      const { search, paging } = await itemSearch(session, options);
      const comments = await session.get('CommentsService').find(search, paging);
      const { full = false } = options;
      const json = comments.items.map((one) => membersOf(full ? `${MEMBERS}, text` : MEMBERS, one));
      const rows = comments.items.map((one) => [
        one.id,
        session.time(one.createdAt),
        one.deletedAt ? 'deleted' : 'shown',
        one.userId,
        one.clientId ?? '-',
        one.postId,
        ...(full ? [one.text.replaceAll('\n', ' ')] : []),
      ]);
      const header = ['COMMENT_ID', 'CREATED', 'STATUS', 'USER_ID', 'CLIENT_ID', 'POST_ID'];
      const columns = full ? [...header, 'TEXT'] : header;
      const text = session.list(columns, rows, 'There are no comments.');
      return listResult('comments', comments, { json, text });
    });

  comment
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
