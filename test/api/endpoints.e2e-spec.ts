import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { onOneEngine } from '../support/database.js';
import { type CommentBody, Member, type PageBody, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const POST = {
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

onOneEngine('Endpoints (product requirements, section 4.2)', (database) => {
  const app = useTestApp(database, { SITE_URL: 'https://site.example' });
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
  });

  it('GET /me returns 200 with the User object', async () => {
    const user = await app().addUser({
      name: 'Ana Lee',
      photoUrl: 'https://example.com/ana.jpg',
      karma: 128,
      neighborhood: 'Riverside',
    });
    const newMember = await Member.join(app(), { user });
    const response = await newMember.get('/me');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await json(response)).toStrictEqual({
      id: expect.stringMatching(/^usr_/),
      name: 'Ana Lee',
      photoUrl: 'https://example.com/ana.jpg',
      karma: 128,
      neighborhood: 'Riverside',
    });
  });

  it('GET /me returns null for a missing photo and neighbourhood', async () => {
    const newMember = await Member.join(app());
    expect(await json(await newMember.get('/me'))).toStrictEqual({
      id: newMember.user.id,
      name: newMember.user.name,
      photoUrl: null,
      karma: 0,
      neighborhood: null,
    });
  });

  it('C78 POST /posts returns 201 with the supplied fields plus id, permalink and createdAt, and its Location', async () => {
    const response = await member.post('/posts', POST);
    expect(response.status).toBe(201);
    const post = await json<PostBody>(response);
    expect(response.headers.get('location')).toBe(`/dev/v1/posts/${post.id}`);
    expect(post).toStrictEqual({
      ...POST,
      id: expect.stringMatching(/^post_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      permalink: `https://site.example/post/${post.id}`,
      createdAt: expect.stringMatching(TIME),
    });
  });

  it.each(['title', 'content', 'images'] as const)(
    'C64 C78 POST /posts accepts %s alone and echoes it alone',
    async (field) => {
      const post = await member.publish({ [field]: POST[field] });
      const { id, permalink, createdAt, ...echoed } = post;
      expect(echoed).toStrictEqual({ [field]: POST[field] });
      expect([id, permalink, createdAt]).not.toContain(undefined);
    },
  );

  it('GET /posts returns 200 with an envelope of posts, each with id, content, permalink and createdAt', async () => {
    const newMember = await Member.join(app());
    const post = await newMember.publish(POST);
    const response = await newMember.get('/posts');
    expect(response.status).toBe(200);
    expect(await json(response)).toStrictEqual({
      data: [
        {
          id: post.id,
          content: POST.content,
          permalink: post.permalink,
          createdAt: post.createdAt,
        },
      ],
      meta: { page: 1, limit: 20, total: 1 },
    });
  });

  it('GET /posts/:id returns 200 with id, content, tags, reachKm, visibility, permalink and createdAt', async () => {
    const { id, permalink, createdAt } = await member.publish(POST);
    const response = await member.get(`/posts/${id}`);
    expect(response.status).toBe(200);
    const { content, tags, reachKm, visibility } = POST;
    expect(await json(response)).toStrictEqual({
      id,
      content,
      tags,
      reachKm,
      visibility,
      permalink,
      createdAt,
    });
  });

  it('GET /posts/:id returns null, no tags and the visibility public for absent fields', async () => {
    const { id } = await member.publish({ title: 'Only a title' });
    expect(await json(await member.get(`/posts/${id}`))).toMatchObject({
      content: null,
      tags: [],
      reachKm: null,
      visibility: 'public',
    });
  });

  it('GET /posts/:id/analytics returns 200 with id, likes, comments, publishedAt and permalink', async () => {
    const reader = await app().addUser();
    const { id, permalink, createdAt } = await member.publish();
    await app().service(PostsService).like(reader.id, id);
    await member.comment(id);
    await member.comment(id);
    const response = await member.get(`/posts/${id}/analytics`);
    expect(response.status).toBe(200);
    expect(await json(response)).toStrictEqual({
      id,
      likes: 1,
      comments: 2,
      publishedAt: createdAt,
      permalink,
    });
  });

  it('DELETE /comments/:id and /posts/:id return 200 with id and deleted true', async () => {
    const post = (await member.publish()).id;
    const comment = (await member.comment(post)).id;
    for (const [path, id] of [
      ['comments', comment],
      ['posts', post],
    ]) {
      const response = await member.delete(`/${path}/${id}`);
      expect(response.status).toBe(200);
      expect(await json(response)).toStrictEqual({ id, deleted: true });
    }
  });

  it('POST /posts/:id/comments returns 201 with the Comment object', async () => {
    const user = await app().addUser({ photoUrl: 'https://example.com/me.jpg' });
    const newMember = await Member.join(app(), { user });
    const post = await newMember.publish();
    const first = await newMember.post(`/posts/${post.id}/comments`, { text: 'Count me in' });
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
    const reply = await newMember.comment(post.id, 'Me too', parent.id);
    expect(reply.parentId).toBe(parent.id);
  });

  it('GET /posts/:id/comments returns 200 with an envelope of comments by all authors, newest first', async () => {
    const otherUser = await app().addUser({ name: 'Ben Okafor' });
    const post = await member.publish();
    const first = await member.comment(post.id, 'first');
    app().clock.advance(1);
    const second = await app()
      .service(CommentsService)
      .add(member.user.id, post.id, { text: 'second', parentId: first.id, authorId: otherUser.id });
    const response = await member.get(`/posts/${post.id}/comments`);
    expect(response.status).toBe(200);
    expect(await json<PageBody<CommentBody>>(response)).toStrictEqual({
      data: [
        {
          id: second.id,
          text: 'second',
          parentId: first.id,
          author: { id: otherUser.id, name: 'Ben Okafor', avatar: null },
          createdAt: second.createdAt,
          permalink: post.permalink,
        },
        first,
      ],
      meta: { page: 1, limit: 20, total: 2 },
    });
  });
});
