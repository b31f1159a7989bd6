import { expectFieldErrors, expectApiError } from '../support/api.js';
import { approve, exchange } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { type CommentBody, Member, type PageBody, type PostBody } from '../support/member.js';
import { json, type TokenBody } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const MINUTE_MS = 60_000;

onOneEngine('State table (product requirements, section 3)', (database) => {
  const app = useTestApp(database);

  it('issues an authorization code that is valid for 5 minutes and one use, and returns the parameter state', async () => {
    const client = await app().addClient();
    const redirect = await approve(app(), await app().addUser(), client, { state: 'the state' });
    expect(redirect.get('state')).toBe('the state');
    const code = redirect.get('code') ?? '';
    expect(code).toMatch(/^svcac_/);
    app().clock.advance(5 * MINUTE_MS - 1);
    expect((await exchange(app(), client, code)).status).toBe(200);
    expect((await exchange(app(), client, code)).status).toBe(400);

    const late = await approve(app(), await app().addUser(), client);
    app().clock.advance(5 * MINUTE_MS);
    expect((await exchange(app(), client, late.get('code') ?? '')).status).toBe(400);
  });

  it('exchanges a code for tokens that are valid for 1 hour', async () => {
    const client = await app().addClient();
    const redirect = await approve(app(), await app().addUser(), client);
    const response = await exchange(app(), client, redirect.get('code') ?? '');
    const { access_token, expires_in } = await json<TokenBody>(response);
    expect(expires_in).toBe(3600);
    app().clock.advance(60 * MINUTE_MS - 1);
    expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
    app().clock.advance(1);
    expect((await app().call(access_token, 'GET', '/me')).status).toBe(401);
  });

  it('POST /posts makes a post readable and lists it', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
    const { data, meta } = await json<PageBody<PostBody>>(await member.get('/posts'));
    expect([data.map((post) => post.id), meta.total]).toEqual([[id], 1]);
  });

  it('C82 DELETE /posts/:id removes a post from every read', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const otherPost = await member.publish();
    await member.comment(id);
    expect((await member.delete(`/posts/${id}`)).status).toBe(200);
    for (const path of ['', '/analytics', '/comments'])
      await expectApiError(await member.get(`/posts/${id}${path}`), 404, 'not_found');
    const comment = await member.post(`/posts/${id}/comments`, { text: 'Too late' });
    await expectApiError(comment, 404, 'not_found');
    await expectApiError(await member.delete(`/posts/${id}`), 404, 'not_found');
    const { data, meta } = await json<PageBody<PostBody>>(await member.get('/posts'));
    expect([data.map((post) => post.id), meta.total]).toEqual([[otherPost.id], 1]);
  });

  it('DELETE /posts/:id does not delete a post of another user', async () => {
    const owner = await Member.join(app());
    const { id } = await owner.publish();
    const otherMember = await Member.join(app());
    await expectApiError(await otherMember.delete(`/posts/${id}`), 404, 'not_found');
    expect((await owner.get(`/posts/${id}`)).status).toBe(200);
  });

  it('C116 DELETE /posts/:id twice at the same time returns one 200 and one 404', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    await member.publish();
    const responses = await Promise.all([1, 2].map(() => member.delete(`/posts/${id}`)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const { meta } = await json<PageBody<PostBody>>(await member.get('/posts'));
    expect(meta.total).toBe(1);
  });

  it('POST /posts/:id/comments adds a comment and counts it', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const comment = await member.comment(id);
    const { data, meta } = await json<PageBody<CommentBody>>(
      await member.get(`/posts/${id}/comments`),
    );
    expect([data, meta.total]).toEqual([[comment], 1]);
    expect(await json(await member.get(`/posts/${id}/analytics`))).toMatchObject({ comments: 1 });
  });

  it('DELETE /comments/:id removes a comment and its count', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const comment = await member.comment(id);
    expect((await member.delete(`/comments/${comment.id}`)).status).toBe(200);
    await expectApiError(await member.delete(`/comments/${comment.id}`), 404, 'not_found');
    expect(await json(await member.get(`/posts/${id}/comments`))).toMatchObject({
      data: [],
      meta: { total: 0 },
    });
    expect(await json(await member.get(`/posts/${id}/analytics`))).toMatchObject({ comments: 0 });
  });

  it('C116 DELETE /comments/:id twice at the same time returns one 200 and one 404', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const comment = await member.comment(id);
    await member.comment(id);
    const responses = await Promise.all([1, 2].map(() => member.delete(`/comments/${comment.id}`)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(await json(await member.get(`/posts/${id}/analytics`))).toMatchObject({ comments: 1 });
  });

  it('C81 keeps the replies of a removed comment, and accepts no new ones', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const parent = await member.comment(id);
    const reply = await member.comment(id, 'reply', parent.id);
    await member.delete(`/comments/${parent.id}`);
    const { data } = await json<PageBody<CommentBody>>(await member.get(`/posts/${id}/comments`));
    expect(data).toEqual([reply]);
    const late = await member.post(`/posts/${id}/comments`, { text: 'late', parentId: parent.id });
    await expectFieldErrors(late, 'parentId invalid_reference');
  });

  it('lets the author remove a comment on a deleted post', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const comment = await member.comment(id);
    await member.delete(`/posts/${id}`);
    expect((await member.delete(`/comments/${comment.id}`)).status).toBe(200);
  });
});
