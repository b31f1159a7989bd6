import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { useMemberAndCommands } from '../support/member-and-commands.js';

const UNKNOWN_POST_ID = 'post_01h455vb4pex5vsknk084sn02q';

onOneEngine('Command "post remove"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const postCount = async (): Promise<number> => {
    const { manager } = app().dataSource;
    return (await manager.findOneByOrFail(User, { id: member().user.id })).postCount;
  };

  const pageStatus = async (id: string): Promise<number> =>
    (await app().fetch(`/post/${id}`)).status;

  it('C147 deletes the post at once, as if its author had, and records actor and reason', async () => {
    const { id } = await member().publish();
    const { id: kept } = await member().publish();
    const args = ['post', 'remove', id, '--yes', '--actor', 'olga', '--reason', 'Spam'];
    expect(await cli.run(...args)).toEqual({
      code: 0,
      stdout: `Removed ${id} of ${member().user.id}.\n`,
      stderr: '',
    });
    expect(await pageStatus(id)).toBe(404);
    expect((await member().get(`/posts/${id}`)).status).toBe(404);
    expect((await member().delete(`/posts/${id}`)).status).toBe(404);
    expect((await member().post(`/posts/${id}/comments`, { text: 'x' })).status).toBe(404);
    expect(await postCount()).toBe(1);
    expect(await pageStatus(kept)).toBe(200);
    expect(await auditTrail(app().dataSource, id)).toEqual([
      {
        action: 'post.removed',
        actor: 'olga',
        reason: 'Spam',
        details: { userId: member().user.id },
      },
    ]);
  });

  it('C147 removes the private post of a blocked author, which "post restore" restores', async () => {
    const { id } = await member().publish({ content: 'Ours', visibility: 'private' });
    const { id: user_id } = member().user;
    await app().dataSource.manager.update(User, { id: user_id }, { status: 'blocked' });
    expect(await cli.json('post', 'remove', id, '--yes')).toEqual({ id, user_id, removed: true });
    expect(await postCount()).toBe(0);
    expect(await cli.json('post', 'restore', id)).toEqual({ id, user_id, restored: true });
    expect(await postCount()).toBe(1);
    const { deletedAt } = await app().dataSource.manager.findOneByOrFail(Post, { id });
    expect(deletedAt).toBeNull();
  });

  it('changes and records nothing for a post that is already deleted', async () => {
    const { id } = await member().publish();
    await member().delete(`/posts/${id}`);
    const { deletedAt } = await app().dataSource.manager.findOneByOrFail(Post, { id });
    const user_id = member().user.id;
    // Without --yes: there is nothing to confirm.
    expect(await cli.json('post', 'remove', id)).toEqual({ id, user_id, removed: false });
    expect(await cli.run('post', 'remove', id)).toEqual({
      code: 0,
      stdout: `${id} of ${user_id} is already deleted.\n`,
      stderr: 'No change.\n',
    });
    const post = await app().dataSource.manager.findOneByOrFail(Post, { id });
    expect(post.deletedAt).toEqual(deletedAt);
    expect(await postCount()).toBe(0);
    expect(await auditTrail(app().dataSource, id)).toEqual([]);
  });

  it('asks for confirmation', async () => {
    const { id } = await member().publish();
    expect(await cli.run('post', 'remove', id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --yes to confirm.') as string,
    });
    expect(await pageStatus(id)).toBe(200);
  });

  it.each([UNKNOWN_POST_ID, 'nonsense'])('rejects the unknown post %s', async (id) => {
    const { code, stdout, stderr } = await cli.run('post', 'remove', id, '--yes');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`There is no post ${id}`);
  });
});
