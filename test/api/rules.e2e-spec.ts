import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PageBody, type PostBody } from '../support/member.js';
import { comparable, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Rules (product requirements, section 4.2)', (database) => {
  const app = useTestApp(database);
  const storedPost = (id: string) => app().dataSource.manager.findOneByOrFail(Post, { id });
  const UNKNOWN_POST_ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

  describe('1: default location', () => {
    const place = { neighborhood: 'Riverside', latitude: 37.7749, longitude: -122.4194 };

    it('copies the saved place of the user into the post and does not echo it', async () => {
      const user = await app().addUser(place);
      const post = await (await Member.join(app(), { user })).publish({ content: 'Hi' });
      expect(await storedPost(post.id)).toMatchObject(place);
      expect(Object.keys(post)).toEqual(['id', 'content', 'permalink', 'createdAt']);
    });

    it('copies the saved place when latitude and longitude are null', async () => {
      const user = await app().addUser(place);
      const member = await Member.join(app(), { user });
      const { id } = await member.publish({ content: 'Hi', latitude: null, longitude: null });
      expect(await storedPost(id)).toMatchObject(place);
    });

    it('keeps the supplied location, without the neighbourhood', async () => {
      const user = await app().addUser(place);
      const member = await Member.join(app(), { user });
      const { id } = await member.publish({ content: 'Hi', latitude: 0, longitude: 0 });
      expect(await storedPost(id)).toMatchObject({ neighborhood: null, latitude: 0, longitude: 0 });
    });

    it('leaves the location empty for a user without a saved place', async () => {
      const { id } = await (await Member.join(app())).publish();
      expect(await storedPost(id)).toMatchObject({
        neighborhood: null,
        latitude: null,
        longitude: null,
      });
    });
  });

  describe('2: own posts', () => {
    it('lists no posts of other users of the same app', async () => {
      const ours = await Member.join(app());
      const theirs = await Member.join(app(), { client: ours.client });
      const { id } = await ours.publish();
      await theirs.publish();
      const { data, meta } = await json<PageBody<PostBody>>(await ours.get('/posts'));
      expect(data.map((post) => post.id)).toEqual([id]);
      expect(meta.total).toBe(1);
    });

    it("returns 404 for another user's post and for a post that does not exist", async () => {
      const { id } = await (await Member.join(app())).publish();
      const member = await Member.join(app());
      await expectApiError(await member.get(`/posts/${id}`), 404, 'not_found');
      await expectApiError(await member.get(`/posts/${UNKNOWN_POST_ID}`), 404, 'not_found');
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
      },
    );
  });

  describe('3: comments and analytics of own posts', () => {
    it.each(['comments', 'analytics'])(
      "returns 404 for the %s of another user's post",
      async (noun) => {
        const { id } = await (await Member.join(app())).publish();
        const member = await Member.join(app());
        await expectApiError(await member.get(`/posts/${id}/${noun}`), 404, 'not_found');
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

    it.each(['cmt_01kahq5f3veqdr8bn3tdmx3q0a', UNKNOWN_POST_ID, 'x'])(
      'returns 404 for %s',
      async (id) => {
        const member = await Member.join(app());
        await expectApiError(await member.delete(`/comments/${id}`), 404, 'not_found');
      },
    );
  });

  describe('5: parentId', () => {
    it('accepts a comment on the same post', async () => {
      const member = await Member.join(app());
      const post = await member.publish();
      const parent = await member.comment(post.id);
      expect((await member.comment(post.id, 'reply', parent.id)).parentId).toBe(parent.id);
    });

    it('C81 rejects a comment on another post and stores nothing', async () => {
      const member = await Member.join(app());
      const parent = await member.comment((await member.publish()).id);
      const { id } = await member.publish();
      const response = await member.post(`/posts/${id}/comments`, {
        text: 'reply',
        parentId: parent.id,
      });
      await expectFieldErrors(response, 'parentId invalid_reference');
      expect(await json(await member.get(`/posts/${id}/analytics`))).toMatchObject({ comments: 0 });
      expect(await json(await member.get(`/posts/${id}/comments`))).toMatchObject({ data: [] });
    });
  });

  describe('6: GET /me', () => {
    it('returns the user of the access token', async () => {
      const first = await Member.join(app());
      const second = await Member.join(app(), { client: first.client });
      expect(await json(await first.get('/me'))).toMatchObject({ id: first.user.id });
      expect(await json(await second.get('/me'))).toMatchObject({ id: second.user.id });
    });
  });
});
