import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { Post } from '../../src/modules/posts/post.entity.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PageBody, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('The rules of the source document, section 4.2', (database) => {
  const app = useTestApp(database);
  const stored = (id: string) => app().dataSource.manager.findOneByOrFail(Post, { id });
  const NEVER = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

  describe('1: without latitude and longitude, the location falls back to the saved neighbourhood', () => {
    const place = { neighborhood: 'Riverside', latitude: 37.7749, longitude: -122.4194 };

    it('copies the saved place into the post, and echoes none of it', async () => {
      const user = await app().addUser(place);
      const post = await (await Member.join(app(), { user })).publish({ content: 'Hi' });
      expect(await stored(post.id)).toMatchObject(place);
      expect(Object.keys(post)).toEqual(['id', 'content', 'permalink', 'createdAt']);
    });

    it('falls back when both are null', async () => {
      const user = await app().addUser(place);
      const member = await Member.join(app(), { user });
      const { id } = await member.publish({ content: 'Hi', latitude: null, longitude: null });
      expect(await stored(id)).toMatchObject(place);
    });

    it('keeps the given location, without the neighbourhood', async () => {
      const user = await app().addUser(place);
      const member = await Member.join(app(), { user });
      const { id } = await member.publish({ content: 'Hi', latitude: 0, longitude: 0 });
      expect(await stored(id)).toMatchObject({ neighborhood: null, latitude: 0, longitude: 0 });
    });

    it('leaves the location empty for a user without a saved place', async () => {
      const { id } = await (await Member.join(app())).publish();
      expect(await stored(id)).toMatchObject({
        neighborhood: null,
        latitude: null,
        longitude: null,
      });
    });
  });

  describe("2: GET /posts and GET /posts/:id return only the user's own posts", () => {
    it('lists no post of another user, even through the same app', async () => {
      const ours = await Member.join(app());
      const theirs = await Member.join(app(), { client: ours.client });
      const { id } = await ours.publish();
      await theirs.publish();
      const { data, meta } = await json<PageBody<PostBody>>(await ours.get('/posts'));
      expect(data.map((post) => post.id)).toEqual([id]);
      expect(meta.total).toBe(1);
    });

    it("answers 404 for another user's post and for one that does not exist", async () => {
      const { id } = await (await Member.join(app())).publish();
      const member = await Member.join(app());
      await expectApiError(await member.get(`/posts/${id}`), 404, 'not_found');
      await expectApiError(await member.get(`/posts/${NEVER}`), 404, 'not_found');
    });

    it('C44 Shows the posts that the user published through another app', async () => {
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
      "C41 %s %s cannot tell another user's post from a deleted one, or from one that never was",
      async (method, path, body) => {
        const owner = await Member.join(app());
        const member = await Member.join(app());
        const { id: foreign } = await owner.publish();
        const { id: deleted } = await member.publish();
        await member.delete(`/posts/${deleted}`);
        const bodies = [];
        for (const id of [foreign, deleted, NEVER]) {
          const answer = await app().fetch(`/dev/v1${path.replace(':id', id)}`, {
            method,
            headers: {
              authorization: `Bearer ${member.token}`,
              'content-type': 'application/json',
              'x-request-id': 'same',
            },
            ...(body && { body: JSON.stringify(body) }),
          });
          const headers = [...answer.headers].filter(([name]) => name !== 'date');
          bodies.push([answer.status, headers, await answer.text()]);
        }
        expect(bodies[0]?.[0]).toBe(404);
        expect(bodies[1]).toEqual(bodies[0]);
        expect(bodies[2]).toEqual(bodies[0]);
      },
    );
  });

  describe("3: comments and analytics concern the user's own posts", () => {
    it.each(['comments', 'analytics'])("GET %s of another user's post is 404", async (noun) => {
      const { id } = await (await Member.join(app())).publish();
      const member = await Member.join(app());
      await expectApiError(await member.get(`/posts/${id}/${noun}`), 404, 'not_found');
    });
  });

  describe('4: DELETE /comments/:id removes only a comment that the user wrote', () => {
    it("C43 Is 404 for another user's comment, even on the user's own post", async () => {
      const member = await Member.join(app());
      const other = await app().addUser();
      const post = await member.publish();
      const { id } = await app()
        .service(CommentsService)
        .add(member.user.id, post.id, { text: 'Hi', parentId: null, authorId: other.id });
      await expectApiError(await member.delete(`/comments/${id}`), 404, 'not_found');
      const { meta } = await json<PageBody<unknown>>(
        await member.get(`/posts/${post.id}/comments`),
      );
      expect(meta.total).toBe(1);
    });

    it("C42 Removes the user's own comment on another user's post", async () => {
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

    it.each(['cmt_01kahq5f3veqdr8bn3tdmx3q0a', NEVER, 'x'])('is 404 for %s', async (id) => {
      const member = await Member.join(app());
      await expectApiError(await member.delete(`/comments/${id}`), 404, 'not_found');
    });
  });

  describe('5: parentId must identify a comment on the same post', () => {
    it('takes a comment on the post, of whomever', async () => {
      const member = await Member.join(app());
      const post = await member.publish();
      const parent = await member.comment(post.id);
      expect((await member.comment(post.id, 'reply', parent.id)).parentId).toBe(parent.id);
    });

    it('C81 Refuses a comment on another post, and stores nothing', async () => {
      const member = await Member.join(app());
      const parent = await member.comment((await member.publish()).id);
      const { id } = await member.publish();
      const answer = await member.post(`/posts/${id}/comments`, {
        text: 'reply',
        parentId: parent.id,
      });
      await expectFieldErrors(answer, 'parentId invalid_reference');
      expect(await json(await member.get(`/posts/${id}/analytics`))).toMatchObject({ comments: 0 });
      expect(await json(await member.get(`/posts/${id}/comments`))).toMatchObject({ data: [] });
    });
  });

  describe('6: GET /me returns the user who authorized the app', () => {
    it('tells two users of one app apart', async () => {
      const first = await Member.join(app());
      const second = await Member.join(app(), { client: first.client });
      expect(await json(await first.get('/me'))).toMatchObject({ id: first.user.id });
      expect(await json(await second.get('/me'))).toMatchObject({ id: second.user.id });
    });
  });
});
