import type { Deletion } from '../../modules/posts/post-moderation.service.js';
import type { Post } from '../../modules/posts/post.entities.js';
import {
  changeResult,
  type CliCommand,
  EXAMPLE_APP,
  EXAMPLE_USER,
  type ItemOptions,
  itemSearch,
  listResult,
} from '../command.js';
import { parsePostId, textUpTo } from '../option-values.js';
import type { Result, Session } from '../session.js';
import { keyValues, membersOf, wrap } from '../tables.js';

const POST_MEMBERS =
  'id, user_id, client_id, visibility, likes, comments, created_at, deleted_at, deleted_by, deletion_reason, permalink, request_ids';
const LISTED_MEMBERS =
  'id, user_id, client_id, visibility, likes, comments, created_at, deleted_at, permalink';
const LIST = `post list --user ${EXAMPLE_USER}`;
const SHOW = 'post show post_01h455vb4pex5vsknk084sn02q';
const REMOVE = 'post remove post_01h455vb4pex5vsknk084sn02q';
const RESTORE = 'post restore post_01h455vb4pex5vsknk084sn02q';

export function addPostCommands(program: CliCommand): void {
  const post = program
    .command('post')
    .description('Show and remove posts, and restore deleted posts.')
    .examples(LIST, SHOW, REMOVE, RESTORE);

  post
    .command('list')
    .summary('List posts, newest first.')
    .description(
      'List the posts of a user, an app or all users, newest first, also deleted ones for DELETED_POST_DAYS days. "post show" has the title and the text, and the request that published the post.',
    )
    .acceptsItems('posts')
    .acceptsPaging(parsePostId)
    .printsJson(`{posts: [{${LISTED_MEMBERS}}], next_before}`)
    .examples(LIST, `post list --app ${EXAMPLE_APP} --since 7d`, 'post list --since today --json')
    .execute(async (session, options: ItemOptions) => {
      const { search, paging } = await itemSearch(session, options);
      const posts = await session.get('PostModeration').find(search, paging);
      const json = posts.items.map((one) =>
        membersOf(LISTED_MEMBERS, one, {
          likes: one.likeCount,
          comments: one.commentCount,
          permalink: session.get('PostsService').permalink(one.id),
        }),
      );
      const rows = posts.items.map((one) => [
        one.id,
        session.time(one.createdAt),
        one.deletedAt ? 'deleted' : one.visibility,
        one.userId,
        one.clientId ?? '-',
      ]);
      const header = ['POST_ID', 'CREATED', 'VISIBILITY', 'USER_ID', 'CLIENT_ID'];
      return listResult('posts', posts, {
        json,
        text: session.list(header, rows, 'There are no posts.'),
      });
    });

  post
    .command('show')
    .summary('Show a post, even a deleted one.')
    .description(
      'Show author, app, visibility, likes, comments and permalink of a post, who deleted it, and the request that published it, for CALL_LOG_DAYS days. A deleted post can be shown for DELETED_POST_DAYS days. Prints the title and the text only with --full.',
    )
    .argument('<post_id>', 'id or permalink of the post')
    .option('--full', 'also print the title and the text')
    .printsJson(`{${POST_MEMBERS}, title?, content?}`)
    .examples(SHOW, `${SHOW} --full`, `${SHOW} --json`)
    .execute(async (session, postId: string, { full = false }: { full?: boolean }) => {
      const moderation = session.get('PostModeration');
      const shown = await moderation.get(postId);
      const deletion = await moderation.deletionOf(shown);
      const requestIds = await moderation.requestsOf(shown);
      return postResult(session, shown, { deletion, requestIds, full });
    });

  post
    .command('remove')
    .summary('Remove a post of any user.')
    .description(
      'Remove a post of any user. Apps and its public page return 404 at once. The quota of the app stays used. For DELETED_POST_DAYS days, "post restore" restores the post.',
    )
    .argument('<post_id>', 'id or permalink of the post')
    .option(
      '--public-reason <text>',
      'reason for the app that published the post, if it receives events',
      textUpTo(500),
    )
    .requiresConfirmation()
    .printsJson('{id, user_id, removed}')
    .examples(`${REMOVE} --reason "Reported as spam"`, `${REMOVE} --yes --json`)
    .execute(async (session, postId: string, { publicReason }: { publicReason?: string }) => {
      const moderation = session.get('PostModeration');
      const { id, userId, deletedAt } = await moderation.get(postId);
      if (!deletedAt) await session.confirm(`Remove ${id} of ${await session.userLabel(userId)}?`);
      const removed = await moderation.remove(id, session.change, publicReason);
      return changeResult(removed, { id, user_id: userId, removed }, [
        `Removed ${id} of ${userId}.`,
        `${id} of ${userId} is already deleted.`,
      ]);
    });

  post
    .command('restore')
    .summary('Restore a deleted post.')
    .description(
      'Restore a post that was deleted or removed less than DELETED_POST_DAYS days ago, with its likes and comments. Comments that were deleted separately stay deleted.',
    )
    .argument('<post_id>', 'id or permalink of the post')
    .acceptsReason()
    .printsJson('{id, user_id, restored}')
    .examples(`${RESTORE} --reason "Deleted by mistake"`, `${RESTORE} --json`)
    .execute(async (session, postId: string) => {
      const moderation = session.get('PostModeration');
      const { id, userId, restored } = await moderation.restore(postId, session.change);
      return changeResult(restored, { id, user_id: userId, restored }, [
        `Restored ${id} of ${userId}.`,
        `${id} of ${userId} is not deleted.`,
      ]);
    });
}

async function postResult(
  session: Session,
  post: Post,
  shown: { deletion: Deletion | null; requestIds: readonly string[]; full: boolean },
): Promise<Result> {
  const { deletion, requestIds, full } = shown;
  const { id, userId, clientId, title, content, visibility, likeCount, commentCount } = post;
  const permalink = session.get('PostsService').permalink(id);
  const counts = { likes: likeCount, comments: commentCount };
  return {
    json: {
      ...membersOf(POST_MEMBERS, post, counts, {
        deletedAt: deletion?.at ?? null,
        deletedBy: deletion?.by ?? null,
        deletionReason: deletion?.reason ?? null,
        permalink,
        requestIds,
      }),
      ...(full && { title, content }),
    },
    text: [
      keyValues({
        id,
        author: await session.userLabel(userId),
        app: clientId === null ? 'none' : await session.appLabel(clientId),
        visibility,
        ...counts,
        created_at: session.time(post.createdAt),
        ...(deletion && deletionFields(session, post, deletion)),
        permalink,
        ...(requestIds.length > 0 && { request: requestIds.join(', ') }),
      }),
      ...(full ? [title, content] : []).flatMap((text) =>
        text === null ? [] : ['', ...linesOf(text, session.width)],
      ),
    ].join('\n'),
  };
}

function deletionFields(session: Session, { userId }: Post, { at, by, reason }: Deletion): object {
  return {
    deleted_at: session.time(at),
    deleted_by: by === userId ? 'its author, through an app' : (by ?? 'unknown'),
    ...(reason !== null && { reason }),
  };
}

function linesOf(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrap(line, width));
}
