import { Post } from '../../src/modules/posts/post.entities.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { onOneEngine, onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { comparable } from '../support/responses.js';
import { statementsWithoutBackground, useTestApp } from '../support/test-app.js';

const WRITE = /^\s*(INSERT|UPDATE|DELETE|REPLACE|START|BEGIN)\b/i;

onOneEngine('Post page', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  beforeAll(async () => {
    const user = await app().addUser({ name: 'Ana Lee', neighborhood: 'Riverside' });
    member = await Member.join(app(), { user });
  });

  const open = (id: string, headers: Record<string, string> = {}): Promise<Response> =>
    app().fetch(`/post/${id}`, { headers });

  async function htmlOf(id: string): Promise<string> {
    const response = await open(id);
    expect(response.status).toBe(200);
    return response.text();
  }

  it('is the target of the permalink, and shows text, author, neighborhood and date without a token', async () => {
    const { permalink, createdAt } = await member.publish({
      title: 'Block party',
      content: 'Bring a chair.\nAnd a friend.',
      tags: ['party', 'lost & found'],
      images: ['https://images.example/party.jpg'],
    });
    const response = await fetch(permalink);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    for (const text of [
      ...['Block party</h1>', 'Bring a chair.\nAnd a friend.</p>', 'Ana Lee', 'Riverside'],
      ...['party</bdi>', 'lost &amp; found</bdi>', `datetime="${createdAt}"`],
      '<a href="https://images.example/party.jpg" rel="nofollow noopener ugc">',
    ])
      expect(html).toContain(text);
  });

  it('shows neither neighborhood nor coordinates of a post with a location', async () => {
    const { id } = await member.publish({
      content: 'Here',
      latitude: 37.123456,
      longitude: -122.5,
    });
    expect(await htmlOf(id)).not.toMatch(/Riverside|37\.1|122\.5/);
  });

  /** The values of the properties of Open Graph, and the description. */
  const metaOf = (html: string): Record<string, string> =>
    Object.fromEntries(
      [...html.matchAll(/<meta (?:property|name)="(og:\w+|description)" content="([^"]*)">/g)].map(
        ([, name, value]) => [name, value],
      ),
    );

  it('describes itself to chats: title, text, first picture and address (Open Graph)', async () => {
    const { id, permalink } = await member.publish({
      title: 'Cake & "tea" <b>',
      content: `Bring a chair.\nAnd a friend. ${'Really long text. '.repeat(50)}`,
      images: ['https://images.example/party.jpg?a=1&b=2', 'https://images.example/second.jpg'],
    });
    const meta = metaOf(await htmlOf(id));
    expect(meta).toEqual({
      'og:site_name': 'Neighbourhood network',
      'og:type': 'article',
      'og:title': 'Cake &amp; &quot;tea&quot; &lt;b&gt;',
      'og:description': expect.stringMatching(
        /^Bring a chair\. And a friend\. [\w. ]{150,}(text\.|long|Really)…$/,
      ) as string,
      'og:image': 'https://images.example/party.jpg?a=1&amp;b=2',
      'og:url': permalink,
      description: meta['og:description'],
    });
  });

  it.each([
    ['a title', { title: 'Plums' }, 'Plums', 'A post by Ana Lee'],
    ['a text', { content: 'Free plums' }, 'A post by Ana Lee', 'Free plums'],
    ['a picture', { images: ['https://images.example/1.jpg'] }, 'A post by Ana Lee', undefined],
  ])('describes a post with only %s', async (_, draft, title, description) => {
    const { id } = await member.publish(draft);
    const meta = metaOf(await htmlOf(id));
    expect(meta['og:title']).toBe(title);
    expect(meta['og:description']).toBe(description);
    expect(meta['og:image']).toBe('images' in draft ? draft.images[0] : undefined);
  });

  it('says that a post of a test app is a test post, and asks not to be indexed', async () => {
    const user = await app().addUser({ testCode: '424242' });
    const client = await app().addClient({ test: true });
    const { id } = await (await Member.join(app(), { user, client })).publish();
    const response = await open(id);
    expect(response.headers.get('x-robots-tag')).toBe('noindex');
    const html = await response.text();
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).toContain('<span class="badge">Test post</span>');
    const real = await open((await member.publish()).id);
    expect(real.headers.get('x-robots-tag')).toBeNull();
    expect(await real.text()).not.toMatch(/noindex|Test post/);
  });

  it('does not describe a post that is gone', async () => {
    const { id } = await member.publish({ title: 'Secret party', content: 'Behind the gate' });
    await member.delete(`/posts/${id}`);
    const html = await (await open(id)).text();
    expect(metaOf(html)).toEqual({});
    expect(html).not.toMatch(/Secret party|Behind the gate/);
  });

  it('has the headers of every page, and requires revalidation of cached copies', async () => {
    const { id } = await member.publish();
    const { headers } = await open(id);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self';/,
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-cache');
    const conditional = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await open(id, conditional)).status).toBe(304);
    await member.delete(`/posts/${id}`);
    expect((await open(id, conditional)).status).toBe(404);
  });

  it('responds to GET and HEAD only', async () => {
    const { id } = await member.publish();
    const head = await app().fetch(`/post/${id}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect((await app().fetch(`/post/${id}`, { method })).ok).toBe(false);
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
  });

  it('returns the same 404 for an unknown, deleted or non-public post and for an invalid id', async () => {
    const ids = ['post_01kahq5f3veqdr8bn3tdmx3q0a'];
    for (const visibility of ['neighborhood', 'private'])
      ids.push((await member.publish({ content: 'Ours', visibility })).id);
    const { id: deleted } = await member.publish();
    await member.delete(`/posts/${deleted}`);
    const { id: existing } = await member.publish();
    const { id: post } = await member.publish();
    const { id: comment } = await member.comment(post);
    ids.push(
      deleted,
      existing.toUpperCase(),
      `${existing}%20`,
      `${existing}%00`,
      comment,
      member.user.id,
    );
    ids.push('x', 'x'.repeat(5000), '..%2f..%2fetc%2fpasswd', '%3Cscript%3E');
    const responses = await Promise.all(ids.map((id) => open(id)));
    const [first, ...others] = await Promise.all(responses.map(comparable));
    expect(first).toMatchObject({
      status: 404,
      body: expect.stringContaining('<h1>Post not found</h1>') as string,
    });
    for (const other of others) expect(other).toEqual(first);
  });

  it('C146 returns the same 404 while its author is blocked', async () => {
    const blocked = await Member.join(app());
    const { id } = await blocked.publish();
    const { id: other } = await member.publish();
    const changeStatus = (status: 'blocked' | 'active') =>
      app().service(UsersService).changeStatus(blocked.user.id, status, { actor: 'test' });
    expect((await open(id)).status).toBe(200);
    await changeStatus('blocked');
    const missing = await comparable(await open('post_01kahq5f3veqdr8bn3tdmx3q0a'));
    expect(await comparable(await open(id))).toEqual(missing);
    expect((await open(other)).status).toBe(200);
    await changeStatus('active');
    expect((await open(id)).status).toBe(200);
  });

  it('C146 returns the same 404 while the operator hides the posts of its app', async () => {
    const { user } = member;
    const first = await Member.join(app(), { user });
    const { id } = await first.publish();
    const { id: ofOtherApp } = await member.publish();
    const apps = app().service(AppsService);
    const { clientId } = first.client;
    await apps.changeStatus(clientId, 'disabled', { actor: 'test' });
    expect((await open(id)).status).toBe(200);
    await apps.changeStatus(clientId, 'disabled', { actor: 'test' }, { hidePosts: true });
    const missing = await comparable(await open('post_01kahq5f3veqdr8bn3tdmx3q0a'));
    expect(await comparable(await open(id))).toEqual(missing);
    expect((await open(ofOtherApp)).status).toBe(200);
    // Through another app, the user still has the post.
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
    await apps.changeStatus(clientId, 'enabled', { actor: 'test' });
    expect((await open(id)).status).toBe(200);
  });

  it('shows a post that no app published', async () => {
    const { id } = await member.publish();
    const { manager } = app().dataSource;
    const { clientId } = member.client;
    await manager.update(Post, { id }, { clientId: null });
    const response = await open(id).finally(() => manager.update(Post, { id }, { clientId }));
    expect(response.status).toBe(200);
  });

  it('is an error page without internals when its query fails', async () => {
    const { id } = await member.publish();
    await app().dataSource.query('ALTER TABLE posts RENAME COLUMN visibility TO hidden');
    const response = await open(id).finally(() =>
      app().dataSource.query('ALTER TABLE posts RENAME COLUMN hidden TO visibility'),
    );
    expect(response.status).toBe(500);
    const html = await response.text();
    expect(html).toContain('<h1>Something went wrong on our side</h1>');
    expect(html).toContain('contact support and mention the request ID below.');
    expect(html).toContain(`<code>${response.headers.get('x-request-id')}</code>`);
    expect(html).not.toMatch(/visibility|SELECT|column/);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('runs one SELECT statement, for an existing and for an unknown post', async () => {
    const { id } = await member.publish();
    await app().service(CallLog).flush();
    const statements = await statementsWithoutBackground(app(), () => htmlOf(id));
    expect(statements).toHaveLength(1);
    expect(statements.filter((statement) => WRITE.test(statement))).toEqual([]);
    const missing = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
    expect(await statementsWithoutBackground(app(), () => open(missing))).toHaveLength(1);
  });
});

onSqlite('Post page, with permalinks to another site', (database) => {
  const app = useTestApp(database, { SITE_URL: 'https://neighbours.example' });

  it('returns 404', async () => {
    const member = await Member.join(app());
    const { id, permalink } = await member.publish();
    expect(permalink).toBe(`https://neighbours.example/post/${id}`);
    expect((await app().fetch(`/post/${id}`)).status).toBe(404);
  });
});
