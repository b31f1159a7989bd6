import { userInfo } from 'node:os';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { useMemberAndCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { Member } from '../support/member.js';

interface Posts {
  posts: { id: string }[];
  next_before: string | null;
}
interface Comments {
  comments: { id: string; client_id: string | null; text?: string }[];
  next_before: string | null;
}

onEachEngine('Commands "post list", "comment list" and permalinks', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const postsOf = async (...args: string[]): Promise<string[]> =>
    (await cli.json<Posts>('post', 'list', ...args)).posts.map(({ id }) => id);
  const commentsOf = async (...args: string[]): Promise<string[]> =>
    (await cli.json<Comments>('comment', 'list', ...args)).comments.map(({ id }) => id);

  it('lists the posts of a user and of an app, newest first, also deleted ones', async () => {
    const { user, client } = member();
    const other = await Member.join(app(), { client });
    const { id: first } = await member().publish();
    app().clock.advance(1);
    const { id: second } = await member().publish();
    app().clock.advance(1);
    const { id: others } = await other.publish();
    await member().delete(`/posts/${first}`);
    expect(await postsOf('--user', user.id)).toEqual([second, first]);
    expect(await postsOf('--app', client.clientId)).toEqual([others, second, first]);
    expect(await postsOf('--app', client.clientId, '--user', user.id)).toEqual([second, first]);
    expect(await postsOf('--user', user.id, '--until', '1h')).toEqual([]);
    const page = await cli.json<Posts>('post', 'list', '--user', user.id, '--limit', '1');
    expect(page.next_before).toBe(second);
    expect(await postsOf('--user', user.id, '--before', second)).toEqual([first]);
    expect(await postsOf('--app', client.clientId, '--before', second)).toEqual([first]);
    const { stdout } = await cli.run('post', 'list', '--user', user.id);
    expect(stdout).toMatch(new RegExp(`^${first} .* deleted `, 'm'));
  });

  it('lists the posts of all users of the last day', async () => {
    const { id } = await member().publish();
    expect(await postsOf()).toContain(id);
    expect(await postsOf('--since', 'today', '--until', 'today', '--json').catch(String)).toContain(
      'The time range is empty',
    );
  });

  it('lists the comments of a user and of an app, with the text on demand', async () => {
    const { user, client } = member();
    const { id: postId } = await member().publish();
    const { id } = await member().comment(postId, 'Spam');
    expect(await commentsOf('--user', user.id)).toEqual([id]);
    expect(await commentsOf('--app', client.clientId)).toEqual([id]);
    const { clientId } = await app().addClient();
    expect(await commentsOf('--app', clientId)).toEqual([]);
    const full = await cli.json<Comments>('comment', 'list', '--user', user.id, '--full');
    expect(full.comments).toEqual([
      {
        ...{ id, post_id: postId, parent_id: null, user_id: user.id, client_id: client.clientId },
        created_at: app().clock.now().toISOString(),
        ...{ deleted_at: null, text: 'Spam' },
      },
    ]);
  });

  it('names the request that published a post', async () => {
    const response = await member().post('/posts', { content: 'Hi' });
    const { id } = (await response.json()) as { id: string };
    const requestId = response.headers.get('x-request-id');
    expect(await cli.json('post', 'show', id)).toMatchObject({ request_ids: [requestId] });
    expect((await cli.run('post', 'show', id)).stdout).toContain(`request     ${requestId}\n`);
  });

  it('accepts the permalink of a post wherever its id is', async () => {
    const { id, permalink } = await member().publish();
    const env = { PUBLIC_URL: app().config.publicUrl };
    const withUrl = useCli(env);
    for (const link of [permalink, `${permalink}/`, `${permalink}?utm_source=x#comments`])
      expect(await withUrl('post', 'show', link)).toMatchObject({ id });
    expect(await withUrl('post', 'remove', permalink, '--yes')).toMatchObject({
      id,
      removed: true,
    });
    expect(await withUrl('post', 'restore', permalink)).toMatchObject({ id, restored: true });
    const { stderr } = await cli.run('post', 'show', `https://elsewhere.example/post/${id}`);
    expect(stderr).toMatch(
      / is not a permalink of this service\. They begin with http\S+\/post\/\.\n$/,
    );
  });

  const useCli =
    (env: Record<string, string>) =>
    async (...args: string[]): Promise<object> => {
      const { CommandLine, runCommand } = await import('../support/command-line.js');
      return new CommandLine(database, runCommand, env).json(...args);
    };

  it('records an export in the audit log', async () => {
    const { id } = member().user;
    const { code, stdout } = await cli.run('user', 'export', id, '--reason', 'Requested');
    expect(code).toBe(0);
    expect(stdout).toContain('"user.exported"');
    const trail = await auditTrail(app().dataSource, id);
    expect(trail.filter(({ action }) => action === 'user.exported')).toMatchObject([
      { actor: userInfo().username, reason: 'Requested' },
    ]);
  });

  it('erases as many comments as the export shows, and counts those of others apart', async () => {
    const { id: postId } = await member().publish();
    await member().comment(postId, 'Mine');
    const { id } = member().user;
    const exported = JSON.parse((await cli.run('user', 'export', id)).stdout) as {
      comments: object[];
    };
    const { tables } = await cli.json<{ tables: Record<string, number> }>(
      ...['user', 'erase', id, '--dry-run'],
    );
    expect(exported.comments).toHaveLength(1);
    expect(tables).toMatchObject({ comments: 1, comments_of_others: 0 });
  });

  it.each(['usr_01h455vb4pex5vsknk084sn02q', 'svc_app_01h455vb4pex5vsknk084sn02q', 'Service'])(
    'refuses the actor %s, which would look like an act of somebody else',
    async (actor) => {
      const { id } = await member().publish();
      const outcome = await cli.run('post', 'remove', id, '--yes', '--actor', actor);
      expect(outcome).toMatchObject({ code: 2, stdout: '' });
      expect(outcome.stderr).toContain('It must be the name of a person, not an id or "service".');
      expect(await auditTrail(app().dataSource, id)).toEqual([]);
      expect((await cli.run('audit', 'list', '--actor', actor)).code).toBe(0);
    },
  );

  it('records the user of the operating system beside --actor', async () => {
    const { id } = await member().publish();
    await cli.json('post', 'remove', id, '--yes', '--actor', 'olga');
    const event = await app().dataSource.manager.findOneByOrFail(AuditEvent, { subject: id });
    expect(event.actor).toBe('olga');
    expect(event.details).toMatchObject({ osUser: userInfo().username });
  });

  it('lists the apps that match all options', async () => {
    const { clientId } = await app().addClient({ name: 'Riverside Tools', publisher: 'Tools Ltd' });
    await app().addClient({ name: 'Riverside Seeds' });
    await cli.json('app', 'update', clientId, '--reference', 'C-1017');
    const list = async (...args: string[]): Promise<string[]> =>
      (await cli.json<{ name: string }[]>('app', 'list', '--name', 'riverside', ...args)).map(
        ({ name }) => name,
      );
    expect(await list()).toHaveLength(2);
    expect(await list('--publisher', 'tools')).toEqual(['Riverside Tools']);
    expect(await list('--reference', 'C-1017')).toEqual(['Riverside Tools']);
    expect(await list('--status', 'disabled')).toEqual([]);
    expect(await list('--verified')).toEqual([]);
    expect(await list('--no-verified', '--type', 'confidential')).toHaveLength(2);
    expect((await cli.run('app', 'list', '--status', 'disabled')).stdout).toBe('No app matches.\n');
    expect(await cli.json('app', 'show', clientId)).toMatchObject({ reference: 'C-1017' });
  });

  it('says what "app disable" would do, and does nothing, with --dry-run', async () => {
    const { clientId, name } = member().client;
    expect(await cli.json('app', 'disable', clientId, '--dry-run')).toMatchObject({
      ...{ status: 'enabled', dry_run: true, users: 1, grants: 1 },
    });
    expect((await cli.run('app', 'disable', clientId, '--dry-run')).stdout).toBe(
      `Would disable "${name}" and reject the tokens of 1 active grant of 1 user.\n`,
    );
    expect((await member().get('/me')).status).toBe(200);
  });

  it('prints the limit of a new app', async () => {
    const args = ['app', 'create', '--scope', 'posts.write', '--allow-similar-name'].concat(
      ...['--name', 'Limited', '--redirect-uri', 'https://garden.example/callback'],
    );
    expect(await cli.json(...args)).toMatchObject({ plan: 'default', limit: 100 });
    const { stdout } = await cli.run(...args, '--limit', '7');
    expect(stdout).toMatch(/^limit +7 posts per month$/m);
  });

  it.each([
    ['nonsense', '--help'],
    ['app', 'nonsense', '--help'],
    ['help', 'nonsense'],
  ])('fails for the unknown command %s %s', async (...args) => {
    expect(await cli.run(...args)).toMatchObject({ code: 2, stdout: '' });
  });

  it.each([[['app', '--help']], [['help', 'app']], [['help']], [['--help']]])(
    'prints help for %j',
    async (args) => {
      expect(await cli.run(...args)).toMatchObject({ code: 0, stderr: '' });
    },
  );
});
