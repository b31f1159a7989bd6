import { Post } from '../../src/modules/posts/post.entities.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { onOneEngine } from '../support/database.js';
import { useMemberAndCommands } from '../support/member-and-commands.js';

const DAY = 86_400_000;
const UNKNOWN_POST_ID = 'post_01h455vb4pex5vsknk084sn02q';

onOneEngine('Command "post show"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const show = (id: string, ...args: string[]) => cli.json('post', 'show', id, ...args);

  it('shows author, app, visibility, counts, times and permalink', async () => {
    const { id, createdAt } = await member().publish({ content: 'Ours', visibility: 'private' });
    await member().comment(id);
    const { client, user } = member();
    const { permalink, ...shown } = await show(id);
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
        `permalink   ${String(permalink)}\n`,
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
    expect(stdout).toContain(`deleted_at  ${deleted_at}\ndeleted_by  its author, through an app\n`);
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

  it.each([UNKNOWN_POST_ID, 'nonsense'])('rejects the unknown post %s', async (id) => {
    const { code, stdout, stderr } = await cli.run('post', 'show', id);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`There is no post ${id}`);
  });
});
