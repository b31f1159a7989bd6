import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PageBody, type PostBody } from '../support/member.js';
import { comparable, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const UNKNOWN_POST_ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
const PLACE = { neighborhood: 'Riverside', latitude: 37.7749, longitude: -122.4194 };
const HERE = { latitude: 0, longitude: 0 };
const NOWHERE = { neighborhood: null, latitude: null, longitude: null };

onOneEngine('Rules and states (product requirements, sections 4.2 and 3)', (database) => {
  const app = useTestApp(database);

  it.each([
    ['copies the saved place of the user', PLACE, {}, PLACE],
    ['copies it for coordinates that are null', PLACE, { latitude: null, longitude: null }, PLACE],
    ['keeps a supplied location', PLACE, HERE, { ...HERE, neighborhood: null }],
    ['leaves the location empty without a saved place', {}, {}, NOWHERE],
  ])('1: default location: %s, and does not echo it', async (_, saved, sent, stored) => {
    const member = await Member.join(app(), { user: await app().addUser(saved) });
    const post = await member.publish({ content: 'Hi', ...sent });
    expect(await app().dataSource.manager.findOneBy(Post, { id: post.id })).toMatchObject(stored);
    const echoed = sent === HERE ? ['latitude', 'longitude'] : [];
    expect(Object.keys(post)).toEqual(['id', 'content', ...echoed, 'permalink', 'createdAt']);
  });

  describe('2, 3: own posts', () => {
    it('lists no posts of other users of the same app', async () => {
      const ours = await Member.join(app());
      const theirs = await Member.join(app(), { client: ours.client });
      const { id } = await ours.publish();
      await theirs.publish();
      const { data, meta } = await json<PageBody<PostBody>>(await ours.get('/posts'));
      expect(data.map((post) => post.id)).toEqual([id]);
      expect(meta.total).toBe(1);
    });

    it('C44 returns and deletes posts that the user published through another app', async () => {
      const first = await Member.join(app());
      const second = await Member.join(app(), { user: first.user });
      const { id } = await first.publish();
      expect((await second.get(`/posts/${id}`)).status).toBe(200);
      expect((await second.delete(`/posts/${id}`)).status).toBe(200);
    });

    it.each([
      ['GET', '/posts/:id', undefined],
      ['DELETE', '/posts/:id', undefined],
      ['GET', '/posts/:id/analytics', undefined],
      ['GET', '/posts/:id/comments', undefined],
      ['POST', '/posts/:id/comments', { text: 'Hi' }],
      ['POST', '/posts/:id/comments', { text: 'Hi', parentId: 'cmt_01kahq5f3veqdr8bn3tdmx3q0a' }],
    ])(
      "C41 %s %s returns the same 404 for another user's post, a deleted post and a post that never existed",
      async (method, path, body) => {
        const owner = await Member.join(app());
        const member = await Member.join(app());
        const { id: foreign } = await owner.publish();
        const { id: deleted } = await member.publish();
        await member.delete(`/posts/${deleted}`);
        const bodies = [];
        for (const id of [foreign, deleted, UNKNOWN_POST_ID]) {
          const response = await app().fetch(`/dev/v1${path.replace(':id', id)}`, {
            method,
            headers: {
              authorization: `Bearer ${member.token}`,
              'content-type': 'application/json',
            },
            ...(body && { body: JSON.stringify(body) }),
          });
          bodies.push(await comparable(response));
        }
        expect(bodies[0]?.status).toBe(404);
        expect(bodies[1]).toEqual(bodies[0]);
        expect(bodies[2]).toEqual(bodies[0]);
        expect((await owner.get(`/posts/${foreign}`)).status).toBe(200);
      },
    );
  });

  describe('4: DELETE /comments/:id', () => {
    it("C43 returns 404 for another user's comment, even on the user's own post", async () => {
      const member = await Member.join(app());
      const otherUser = await app().addUser();
      const post = await member.publish();
      const { id } = await app()
        .service(CommentsService)
        .add(member.user.id, post.id, { text: 'Hi', parentId: null, authorId: otherUser.id });
      await expectApiError(await member.delete(`/comments/${id}`), 404, 'not_found');
      const { meta } = await json<PageBody<unknown>>(
        await member.get(`/posts/${post.id}/comments`),
      );
      expect(meta.total).toBe(1);
    });

    it("C42 deletes the user's own comment on another user's post", async () => {
      const owner = await Member.join(app());
      const author = await Member.join(app());
      const post = await owner.publish();
      const { id } = await app().service(CommentsService).add(owner.user.id, post.id, {
        text: 'Hi',
        parentId: null,
        authorId: author.user.id,
      });
      expect((await author.delete(`/comments/${id}`)).status).toBe(200);
      const analytics = await owner.get(`/posts/${post.id}/analytics`);
      expect(await json(analytics)).toMatchObject({ comments: 0 });
    });
  });

  it('C82 DELETE /posts/:id removes a post from every read', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const otherPost = await member.publish();
    const comment = await member.comment(id);
    expect((await member.delete(`/posts/${id}`)).status).toBe(200);
    for (const path of ['', '/analytics', '/comments'])
      await expectApiError(await member.get(`/posts/${id}${path}`), 404, 'not_found');
    const late = await member.post(`/posts/${id}/comments`, { text: 'Too late' });
    await expectApiError(late, 404, 'not_found');
    await expectApiError(await member.delete(`/posts/${id}`), 404, 'not_found');
    const { data, meta } = await json<PageBody<PostBody>>(await member.get('/posts'));
    expect([data.map((post) => post.id), meta.total]).toEqual([[otherPost.id], 1]);
    // The author can still remove the comment.
    expect((await member.delete(`/comments/${comment.id}`)).status).toBe(200);
  });

  it('C116 DELETE twice at the same time returns one 200 and one 404, and counts once', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const { id: deleted } = await member.publish();
    const comment = await member.comment(id);
    await member.comment(id);
    for (const path of [`/posts/${deleted}`, `/comments/${comment.id}`]) {
      const responses = await Promise.all([1, 2].map(() => member.delete(path)));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404]);
      await expectApiError(await member.delete(path), 404, 'not_found');
    }
    expect(await json(await member.get('/posts'))).toMatchObject({ meta: { total: 1 } });
    const comments = await json(await member.get(`/posts/${id}/comments`));
    expect(comments).toMatchObject({ meta: { total: 1 } });
    expect(await json(await member.get(`/posts/${id}/analytics`))).toMatchObject({ comments: 1 });
  });
});
