import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { DAY } from '../../src/platform/clock.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { dumpTables, onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { type CommentBody, footprintOf, type PageBody } from '../support/member.js';
import { useMemberAndCommands } from '../support/commands.js';
import { json } from '../support/responses.js';
import { flushDeferredWrites } from '../support/test-app.js';

onOneEngine('Commands about posts and comments', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);
  const findPost = (id: string) => app().dataSource.manager.findOneByOrFail(Post, { id });
  const commentsOf = async (postId: string): Promise<PageBody<CommentBody>> =>
    json(await member().get(`/posts/${postId}/comments`));

  const postCount = async (): Promise<number> => {
    const { manager } = app().dataSource;
    return (await manager.findOneByOrFail(User, { id: member().user.id })).postCount;
  };

  describe('"post show"', () => {
    const show = (id: string, ...args: string[]) => cli.json('post', 'show', id, ...args);

    it('shows author, app, visibility, counts, times and permalink', async () => {
      const { id, createdAt } = await member().publish({ content: 'Ours', visibility: 'private' });
      await member().comment(id);
      const { client, user } = member();
      const { permalink, request_ids, ...shown } = await show(id);
      expect(request_ids).toEqual([expect.stringMatching(/^req_/)]);
      expect(shown).toEqual({
        id,
        user_id: user.id,
        client_id: client.clientId,
        visibility: 'private',
        likes: 0,
        comments: 1,
        created_at: createdAt,
        deleted_at: null,
        deleted_by: null,
        deletion_reason: null,
      });
      expect(String(permalink)).toMatch(new RegExp(`/post/${id}$`));
      expect(await cli.run('post', 'show', id)).toEqual({
        code: 0,
        stdout: [
          `id          ${id}`,
          `author      ${user.id} (${user.name})`,
          `app         ${client.clientId} (${client.name})`,
          'visibility  private',
          'likes       0',
          'comments    1',
          `created_at  ${createdAt}`,
          `permalink   ${String(permalink)}`,
          `request     ${String(request_ids)}\n`,
        ].join('\n'),
        stderr: '',
      });
    });

    it('shows a post that was published in the network itself', async () => {
      const { id } = await member().publish();
      const { manager } = app().dataSource;
      await manager.update(Post, { id }, { clientId: null });
      expect(await show(id)).toMatchObject({ client_id: null });
      expect((await cli.run('post', 'show', id)).stdout).toMatch(/^app +none$/m);
      await manager.update(Post, { id }, { clientId: member().client.clientId });
    });

    it('prints title and text only with --full, wrapped at the width of a terminal', async () => {
      const title = 'Block party';
      const line = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');
      const content = `${line}\n\nBye`;
      const { id } = await member().publish({ title, content });
      expect((await cli.run('post', 'show', id)).stdout).not.toContain('word1');
      expect(await show(id)).not.toHaveProperty('content');
      expect(await show(id, '--full')).toMatchObject({ title, content });
      expect((await cli.run('post', 'show', id, '--full')).stdout).toMatch(
        new RegExp(`\n\n${title}\n\n${line}\n\nBye\n$`),
      );
      const { stdout } = await cli.runAtTerminal(80, 'post', 'show', id, '--full');
      const text = stdout.slice(stdout.indexOf('word0'));
      expect(text.split('\n').length).toBeGreaterThan(4);
      for (const part of text.split('\n')) expect(part.length).toBeLessThanOrEqual(80);
      expect(stdout).toMatch(/^created_at {2}20\S{17}Z \((now|\d+ s ago)\)$/m);
    });

    it('shows that its author deleted it', async () => {
      const { id } = await member().publish();
      await member().delete(`/posts/${id}`);
      const deleted_at = app().clock.now().toISOString();
      const deleted_by = member().user.id;
      expect(await show(id)).toMatchObject({ deleted_at, deleted_by, deletion_reason: null });
      const { stdout } = await cli.run('post', 'show', id);
      expect(stdout).toContain(
        `deleted_at  ${deleted_at}\ndeleted_by  its author, through an app\n`,
      );
    });

    it('shows the operator who removed it last, and the reason', async () => {
      const { id } = await member().publish();
      const { id: other } = await member().publish();
      const remove = (post: string, actor: string) =>
        cli.json('post', 'remove', post, '--yes', '--actor', actor, '--reason', `${actor} did`);
      await remove(id, 'olga');
      await cli.json('post', 'restore', id);
      await remove(id, 'pia');
      await remove(other, 'quinn');
      expect(await show(id)).toMatchObject({ deleted_by: 'pia', deletion_reason: 'pia did' });
      expect((await cli.run('post', 'show', id)).stdout).toMatch(
        /^deleted_by +pia\nreason +pia did$/m,
      );
      await cli.json('post', 'restore', id);
      app().clock.set(new Date().toISOString());
      await member().delete(`/posts/${id}`);
      expect(await show(id)).toMatchObject({ deleted_by: member().user.id, deletion_reason: null });
    });

    it('names nobody if the audit log no longer has the time of the deletion', async () => {
      const { id } = await member().publish();
      await cli.json('post', 'remove', id, '--yes');
      const { manager } = app().dataSource;
      await manager.delete(AuditEvent, { subject: id });
      await manager.update(Post, { id }, { deletedAt: new Date(Date.now() - 731 * DAY) });
      expect(await show(id)).toMatchObject({ deleted_by: null });
      expect((await cli.run('post', 'show', id)).stdout).toMatch(/^deleted_by +unknown$/m);
    });
  });

  describe('"post remove"', () => {
    const pageStatus = async (id: string): Promise<number> =>
      (await app().fetch(`/post/${id}`)).status;

    it('C147 deletes the post at once, as if its author had', async () => {
      const { id } = await member().publish();
      const { id: kept } = await member().publish();
      const args = ['post', 'remove', id, '--yes'];
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
      expect(await auditTrail(app().dataSource, id)).toMatchObject([
        { action: 'post.removed', details: { userId: member().user.id } },
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
      const { deletedAt } = await findPost(id);
      expect(deletedAt).toBeNull();
    });
  });

  describe('"post restore"', () => {
    it('restores the post with its undeleted comments, and increments the post count of its author', async () => {
      const { id } = await member().publish({ content: 'Lost and found' });
      const kept = await member().comment(id, 'Kept');
      const gone = await member().comment(id, 'Gone');
      await member().delete(`/comments/${gone.id}`);
      await member().delete(`/posts/${id}`);
      expect((await member().get(`/posts/${id}`)).status).toBe(404);
      expect(await postCount()).toBe(0);

      const args = ['post', 'restore', id];
      expect(await cli.run(...args)).toEqual({
        code: 0,
        stdout: `Restored ${id} of ${member().user.id}.\n`,
        stderr: '',
      });
      expect((await member().get(`/posts/${id}`)).status).toBe(200);
      expect(await postCount()).toBe(1);
      const comments = await commentsOf(id);
      expect(comments.meta.total).toBe(1);
      expect(comments.data.map((comment) => comment.id)).toEqual([kept.id]);
      expect(await auditTrail(app().dataSource, id)).toMatchObject([
        { action: 'post.restored', details: { userId: member().user.id } },
      ]);
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
      const post = await findPost(id);
      expect(post.deletedAt).not.toBeNull();
      expect(await auditTrail(app().dataSource, id)).toEqual([]);
    });
  });

  describe('"comment remove"', () => {
    it('C147 deletes the comment at once, as if its author had', async () => {
      const { id: postId } = await member().publish();
      const { id } = await member().comment(postId, 'Spam');
      const reply = await member().comment(postId, 'Reply', id);
      const args = ['comment', 'remove', id, '--yes'];
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
      expect(await auditTrail(app().dataSource, id)).toMatchObject([
        { action: 'comment.removed', details: { userId: member().user.id, postId } },
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
  });

  it.each([
    ['post remove', 'already'],
    ['post restore', 'not'],
    ['comment remove', 'already'],
  ])('"%s" changes and records nothing if the item is %s deleted', async (command, state) => {
    const { id: post_id } = await member().publish();
    const { id: comment } = await member().comment(post_id);
    const isComment = command === 'comment remove';
    const id = isComment ? comment : post_id;
    if (state === 'already') await member().delete(`/${isComment ? 'comments' : 'posts'}/${id}`);
    await flushDeferredWrites(app());
    const before = await dumpTables(app().dataSource);
    const user_id = member().user.id;
    // Without --yes: there is nothing to confirm.
    expect(await cli.json(...command.split(' '), id)).toEqual({
      ...{ id, user_id, ...(isComment && { post_id }) },
      [command === 'post restore' ? 'restored' : 'removed']: false,
    });
    expect(await cli.run(...command.split(' '), id)).toEqual({
      code: 0,
      stdout: `${id} of ${user_id}${isComment ? ` on ${post_id}` : ''} is ${state} deleted.\n`,
      stderr: 'No change.\n',
    });
    expect(await dumpTables(app().dataSource)).toEqual(before);
  });
});
