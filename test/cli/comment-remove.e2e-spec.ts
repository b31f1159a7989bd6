import { Comment } from '../../src/modules/comments/comment.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { type CommentBody, footprintOf, type PageBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useMemberAndCommands } from '../support/member-and-commands.js';

const UNKNOWN_COMMENT_ID = 'cmt_01h455vb4pex5vsknk084sn02q';

onOneEngine('Command "comment remove"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const commentsOf = async (postId: string): Promise<PageBody<CommentBody>> =>
    json(await member().get(`/posts/${postId}/comments`));

  it('C147 deletes the comment at once, as if its author had, and records actor and reason', async () => {
    const { id: postId } = await member().publish();
    const { id } = await member().comment(postId, 'Spam');
    const reply = await member().comment(postId, 'Reply', id);
    const args = ['comment', 'remove', id, '--yes', '--actor', 'olga', '--reason', 'Spam'];
    expect(await cli.run(...args)).toEqual({
      code: 0,
      stdout: `Removed ${id} of ${member().user.id} on ${postId}.\n`,
      stderr: '',
    });
    const { data, meta } = await commentsOf(postId);
    expect(data.map((comment) => comment.id)).toEqual([reply.id]);
    expect(meta.total).toBe(1);
    expect((await member().delete(`/comments/${id}`)).status).toBe(404);
    expect(await footprintOf(member())).toMatchObject({ commentCount: 1, quotaUsed: 1 });
    expect(await auditTrail(app().dataSource, id)).toEqual([
      {
        action: 'comment.removed',
        actor: 'olga',
        reason: 'Spam',
        details: { userId: member().user.id, postId },
      },
    ]);
  });

  it('removes the comment of a blocked author on a deleted post', async () => {
    const { id: post_id } = await member().publish();
    const { id } = await member().comment(post_id);
    await member().delete(`/posts/${post_id}`);
    const { id: user_id } = member().user;
    await app().dataSource.manager.update(User, { id: user_id }, { status: 'blocked' });
    const removal = { id, user_id, post_id, removed: true };
    expect(await cli.json('comment', 'remove', id, '--yes')).toEqual(removal);
    expect(await footprintOf(member())).toMatchObject({ commentCount: 0 });
  });

  it('changes and records nothing for a comment that is already deleted', async () => {
    const { id: post_id } = await member().publish();
    const { id } = await member().comment(post_id);
    await member().delete(`/comments/${id}`);
    const find = () => app().dataSource.manager.findOneByOrFail(Comment, { id });
    const { deletedAt } = await find();
    const user_id = member().user.id;
    // Without --yes: there is nothing to confirm.
    expect(await cli.json('comment', 'remove', id)).toEqual({
      ...{ id, user_id, post_id },
      removed: false,
    });
    expect(await cli.run('comment', 'remove', id)).toEqual({
      code: 0,
      stdout: `${id} of ${user_id} on ${post_id} is already deleted.\n`,
      stderr: 'No change.\n',
    });
    expect((await find()).deletedAt).toEqual(deletedAt);
    expect(await footprintOf(member())).toMatchObject({ commentCount: 0 });
    expect(await auditTrail(app().dataSource, id)).toEqual([]);
  });

  it('asks for confirmation', async () => {
    const { id: postId } = await member().publish();
    const { id } = await member().comment(postId);
    expect(await cli.run('comment', 'remove', id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --yes to confirm.') as string,
    });
    expect((await commentsOf(postId)).meta.total).toBe(1);
  });

  it.each([UNKNOWN_COMMENT_ID, 'nonsense'])('rejects the unknown comment %s', async (id) => {
    const { code, stdout, stderr } = await cli.run('comment', 'remove', id, '--yes');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`There is no comment ${id}`);
  });
});
