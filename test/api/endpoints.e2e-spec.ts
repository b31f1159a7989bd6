import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { onOneEngine } from '../support/database.js';
import { type CommentBody, Member, type PageBody, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const WHOLE = {
  title: 'Block party on Saturday',
  content: 'Bring a chair.\r\nAnd something to share.',
  type: 'event',
  images: ['https://example.com/party.jpg'],
  tags: ['party', 'Saturday'],
  latitude: 37.7749,
  longitude: -122.4194,
  reachKm: 2.5,
  visibility: 'neighborhood',
};

onOneEngine('The endpoint table of the source document, section 4.2', (database) => {
  const app = useTestApp(database, { SITE_URL: 'https://site.example' });

  it('GET /me answers 200 with the User object', async () => {
    const user = await app().addUser({
      name: 'Ana Lee',
      photoUrl: 'https://example.com/ana.jpg',
      karma: 128,
      neighborhood: 'Riverside',
    });
    const member = await Member.join(app(), { user });
    const answer = await member.get('/me');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await json(answer)).toStrictEqual({
      id: expect.stringMatching(/^usr_/),
      name: 'Ana Lee',
      photoUrl: 'https://example.com/ana.jpg',
      karma: 128,
      neighborhood: 'Riverside',
    });
  });

  it('GET /me shows null for a photo and a neighbourhood that the user does not have', async () => {
    const member = await Member.join(app());
    expect(await json(await member.get('/me'))).toStrictEqual({
      id: member.user.id,
      name: member.user.name,
      photoUrl: null,
      karma: 0,
      neighborhood: null,
    });
  });

  it('C78 POST /posts answers 201 with the supplied fields plus id, permalink and createdAt', async () => {
    const member = await Member.join(app());
    const answer = await member.post('/posts', WHOLE);
    expect(answer.status).toBe(201);
    const post = await json<PostBody>(answer);
    expect(post).toStrictEqual({
      ...WHOLE,
      id: expect.stringMatching(/^post_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      permalink: `https://site.example/post/${post.id}`,
      createdAt: expect.stringMatching(TIME),
    });
  });

  it.each(['title', 'content', 'images'] as const)(
    'C64 C78 POST /posts with %s alone echoes it alone',
    async (field) => {
      const member = await Member.join(app());
      const post = await member.publish({ [field]: WHOLE[field] });
      const { id, permalink, createdAt, ...echoed } = post;
      expect(echoed).toStrictEqual({ [field]: WHOLE[field] });
      expect([id, permalink, createdAt]).not.toContain(undefined);
    },
  );

  it('C78 POST /posts points its Location at the new post', async () => {
    const member = await Member.join(app());
    const answer = await member.post('/posts', WHOLE);
    const { id } = await json<PostBody>(answer);
    expect(answer.headers.get('location')).toBe(`/dev/v1/posts/${id}`);
    const { pathname } = new URL(answer.headers.get('location') ?? '', answer.url);
    const read = await app().fetch(pathname, {
      headers: { authorization: `Bearer ${member.token}` },
    });
    expect(read.status).toBe(200);
    expect(await json(read)).toMatchObject({ id });
  });

  it('GET /posts answers 200 with an envelope of id, content, permalink and createdAt', async () => {
    const member = await Member.join(app());
    const post = await member.publish(WHOLE);
    const answer = await member.get('/posts');
    expect(answer.status).toBe(200);
    expect(await json(answer)).toStrictEqual({
      data: [
        {
          id: post.id,
          content: WHOLE.content,
          permalink: post.permalink,
          createdAt: post.createdAt,
        },
      ],
      meta: { page: 1, limit: 20, total: 1 },
    });
  });

  it('GET /posts/:id answers 200 with id, content, tags, reachKm, visibility, permalink and createdAt', async () => {
    const member = await Member.join(app());
    const { id, permalink, createdAt } = await member.publish(WHOLE);
    const answer = await member.get(`/posts/${id}`);
    expect(answer.status).toBe(200);
    const { content, tags, reachKm, visibility } = WHOLE;
    expect(await json(answer)).toStrictEqual({
      id,
      content,
      tags,
      reachKm,
      visibility,
      permalink,
      createdAt,
    });
  });

  it('GET /posts/:id shows what was not supplied as null, no tags and public', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish({ title: 'Only a title' });
    expect(await json(await member.get(`/posts/${id}`))).toMatchObject({
      content: null,
      tags: [],
      reachKm: null,
      visibility: 'public',
    });
  });

  it('GET /posts/:id/analytics answers 200 with id, likes, comments, publishedAt and permalink', async () => {
    const member = await Member.join(app());
    const reader = await app().addUser();
    const { id, permalink, createdAt } = await member.publish();
    await app().service(PostsService).like(reader.id, id);
    await member.comment(id);
    await member.comment(id);
    const answer = await member.get(`/posts/${id}/analytics`);
    expect(answer.status).toBe(200);
    expect(await json(answer)).toStrictEqual({
      id,
      likes: 1,
      comments: 2,
      publishedAt: createdAt,
      permalink,
    });
  });

  it('DELETE /posts/:id answers 200 with id and deleted true', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const answer = await member.delete(`/posts/${id}`);
    expect(answer.status).toBe(200);
    expect(await json(answer)).toStrictEqual({ id, deleted: true });
  });

  it('POST /posts/:id/comments answers 201 with the Comment object', async () => {
    const user = await app().addUser({ photoUrl: 'https://example.com/me.jpg' });
    const member = await Member.join(app(), { user });
    const post = await member.publish();
    const first = await member.post(`/posts/${post.id}/comments`, { text: 'Count me in' });
    expect(first.status).toBe(201);
    const parent = await json<CommentBody>(first);
    expect(parent).toStrictEqual({
      id: expect.stringMatching(/^cmt_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      text: 'Count me in',
      parentId: null,
      author: { id: user.id, name: user.name, avatar: 'https://example.com/me.jpg' },
      createdAt: expect.stringMatching(TIME),
      permalink: post.permalink,
    });
    const reply = await member.comment(post.id, 'Me too', parent.id);
    expect(reply.parentId).toBe(parent.id);
  });

  it('GET /posts/:id/comments answers 200 with an envelope of comments, newest first, whoever wrote them', async () => {
    const member = await Member.join(app());
    const other = await app().addUser({ name: 'Ben Okafor' });
    const post = await member.publish();
    const first = await member.comment(post.id, 'first');
    app().clock.advance(1);
    const second = await app()
      .service(CommentsService)
      .add(member.user.id, post.id, { text: 'second', parentId: first.id, authorId: other.id });
    const answer = await member.get(`/posts/${post.id}/comments`);
    expect(answer.status).toBe(200);
    expect(await json<PageBody<CommentBody>>(answer)).toStrictEqual({
      data: [
        {
          id: second.id,
          text: 'second',
          parentId: first.id,
          author: { id: other.id, name: 'Ben Okafor', avatar: null },
          createdAt: second.createdAt,
          permalink: post.permalink,
        },
        first,
      ],
      meta: { page: 1, limit: 20, total: 2 },
    });
  });

  it('DELETE /comments/:id answers 200 with id and deleted true', async () => {
    const member = await Member.join(app());
    const { id } = await member.comment((await member.publish()).id);
    const answer = await member.delete(`/comments/${id}`);
    expect(answer.status).toBe(200);
    expect(await json(answer)).toStrictEqual({ id, deleted: true });
  });

  it.each(['/me', '/posts', '/posts/:id', '/posts/:id/analytics', '/posts/:id/comments'])(
    'HEAD %s answers like GET, without a body',
    async (path) => {
      const member = await Member.join(app());
      const { id } = await member.publish();
      const answer = await app().call(member.token, 'HEAD', path.replace(':id', id));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await answer.text()).toBe('');
    },
  );
});
