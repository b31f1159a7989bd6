import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { type CommentBody, type PageBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useMemberAndCommands } from '../support/member-and-commands.js';

const DAY = 86_400_000;
const UNKNOWN_POST_ID = 'post_01h455vb4pex5vsknk084sn02q';

onOneEngine('Command "post restore"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const postCount = async (): Promise<number> => {
    const { manager } = app().dataSource;
    return (await manager.findOneByOrFail(User, { id: member().user.id })).postCount;
  };

  it('restores the post with its undeleted comments, and increments the post count of its author', async () => {
    const { id } = await member().publish({ content: 'Lost and found' });
    const kept = await member().comment(id, 'Kept');
    const gone = await member().comment(id, 'Gone');
    await member().delete(`/comments/${gone.id}`);
    await member().delete(`/posts/${id}`);
    expect((await member().get(`/posts/${id}`)).status).toBe(404);
    expect(await postCount()).toBe(0);

    const args = ['post', 'restore', id, '--actor', 'olga', '--reason', 'Deleted by mistake'];
    expect(await cli.run(...args)).toEqual({
      code: 0,
      stdout: `Restored ${id} of ${member().user.id}.\n`,
      stderr: '',
    });
    expect((await member().get(`/posts/${id}`)).status).toBe(200);
    expect(await postCount()).toBe(1);
    const comments = await json<PageBody<CommentBody>>(await member().get(`/posts/${id}/comments`));
    expect(comments.meta.total).toBe(1);
    expect(comments.data.map((comment) => comment.id)).toEqual([kept.id]);
    expect(await auditTrail(app().dataSource, id)).toEqual([
      {
        action: 'post.restored',
        actor: 'olga',
        reason: 'Deleted by mistake',
        details: { userId: member().user.id },
      },
    ]);
  });

  it('changes and records nothing for a post that is not deleted', async () => {
    const { id } = await member().publish();
    await member().delete(`/posts/${id}`);
    const user_id = member().user.id;
    expect(await cli.json('post', 'restore', id)).toEqual({ id, user_id, restored: true });
    expect(await cli.json('post', 'restore', id)).toEqual({ id, user_id, restored: false });
    expect(await cli.run('post', 'restore', id)).toEqual({
      code: 0,
      stdout: `${id} of ${user_id} is not deleted.\n`,
      stderr: 'No change.\n',
    });
    expect(await postCount()).toBe(1);
    expect(await auditTrail(app().dataSource, id)).toHaveLength(1);
  });

  async function errorOf(id: string): Promise<string> {
    const { code, stdout, stderr } = await cli.run('post', 'restore', id);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    return stderr;
  }

  it('rejects a post that was deleted more than DELETED_POST_DAYS ago', async () => {
    const { id } = await member().publish();
    await member().delete(`/posts/${id}`);
    const deletedAt = new Date(Date.now() - 30 * DAY - 1);
    await app().dataSource.manager.update(Post, { id }, { deletedAt });
    expect(await errorOf(id)).toContain(
      `${id} was deleted at ${deletedAt.toISOString()}, more than 30 days ago (DELETED_POST_DAYS)`,
    );
    expect((await member().get(`/posts/${id}`)).status).toBe(404);
    expect(await postCount()).toBe(0);
  });

  it('rejects a post of an erased author', async () => {
    const { id } = await member().publish();
    await member().delete(`/posts/${id}`);
    await app().dataSource.manager.delete(User, { id: member().user.id });
    expect(await errorOf(id)).toContain(`The author of ${id} was erased`);
    const post = await app().dataSource.manager.findOneByOrFail(Post, { id });
    expect(post.deletedAt).not.toBeNull();
    expect(await auditTrail(app().dataSource, id)).toEqual([]);
  });

  it.each([UNKNOWN_POST_ID, 'nonsense'])('rejects the unknown post %s', async (id) => {
    expect(await errorOf(id)).toContain(`There is no post ${id}`);
  });
});
