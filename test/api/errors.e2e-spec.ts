import { ERROR_STATUS } from '../../src/http/error-status.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('The errors of the source document, section 7', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1', OAUTH_TOKEN_FAILURES: '1' });

  it('403 insufficient_scope: the token lacks the scope required by the endpoint', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await expectApiError(await member.get('/me'), 403, 'insufficient_scope');
  });

  it('429 quota_exceeded: the quota is spent; the body has error and error_description', async () => {
    const member = await Member.join(app());
    await member.publish();
    const answer = await member.post('/posts', { content: 'Hi' });
    const body = await expectApiError(answer, 429, 'quota_exceeded');
    expect(body.error_description).toMatch(/quota of 1 post per month/);
  });

  it.each(['/posts/post_01kahq5f3veqdr8bn3tdmx3q0a', '/comments/cmt_01kahq5f3veqdr8bn3tdmx3q0a'])(
    '404: %s is not found',
    async (path) => {
      const member = await Member.join(app());
      await expectApiError(await member.delete(path), 404, 'not_found');
    },
  );

  it("'Too many attempts': the token endpoint was guessed at too often", async () => {
    const client = await app().addClient();
    const form = { grant_type: 'refresh_token', refresh_token: 'svcrt_x', client_secret: 'guess' };
    await requestToken(app(), client, form);
    const answer = await requestToken(app(), client, form);
    expect(answer.status).toBe(429);
    expect(await answer.text()).toContain('Too many attempts');
  });
});

onOneEngine('The error body', (database) => {
  const app = useTestApp(database);

  it('C26 It takes over the request id of the caller, and makes one where it is not plain', async () => {
    const get = (id: string) => app().fetch('/dev/v1/me', { headers: { 'x-request-id': id } });
    expect((await expectApiError(await get('my-id_1.2'), 401, 'unauthorized')).request_id).toBe(
      'my-id_1.2',
    );
    for (const id of ['a b', '"', '<script>', 'x'.repeat(65), 'x'.repeat(1000), '\u00e9'])
      expect((await expectApiError(await get(id), 401, 'unauthorized')).request_id).toMatch(
        /^req_[0-9a-z]{26}$/,
      );
  });

  it('gives two requests two ids', async () => {
    const ids = new Set<string>();
    for (let request = 0; request < 3; request += 1)
      ids.add((await expectApiError(await app().fetch('/x'), 404, 'not_found')).request_id);
    expect(ids.size).toBe(3);
  });

  it('links every code to a place on a page that exists', async () => {
    const { doc_url } = await json<ErrorBody>(await app().fetch('/dev/v1/me'));
    const page = await fetch(doc_url);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const html = await page.text();
    for (const code of Object.keys(ERROR_STATUS)) expect(html).toContain(`id="${code}"`);
  });

  it('lists several violations at once, in the order of the fields', async () => {
    const member = await Member.join(app());
    const body = await expectFieldErrors(
      await member.post('/posts', {
        visibility: 'everyone',
        reachKm: 0,
        longitude: 181,
        latitude: -91,
        tags: [1],
        images: ['x'],
        type: 'For Sale',
        content: ' ',
        title: 'a\nb',
      }),
      'title control_character',
      'content blank',
      'type invalid_format',
      'images invalid_format',
      'tags wrong_type',
      'latitude too_small',
      'longitude too_large',
      'reachKm too_small',
      'visibility not_allowed_value',
    );
    expect(body.error_description).toBe(
      '9 fields are invalid: title, content, type, images, tags, latitude, longitude, reachKm, visibility.',
    );
  });

  it('lists both parameters of a list', async () => {
    const member = await Member.join(app());
    await expectFieldErrors(
      await member.get('/posts?limit=0&page=0'),
      'page too_small',
      'limit too_small',
    );
  });

  it('stays small, however many or long the names are that do not exist', async () => {
    const member = await Member.join(app());
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, 1]));
    const manyNames = await member.post('/posts', many);
    expect((await expectApiError(manyNames, 400, 'invalid_request')).errors).toHaveLength(20);
    const longName = await member.post('/posts', { content: 'Hi', ['x'.repeat(200_000)]: 1 });
    const body = await expectFieldErrors(longName, `${'x'.repeat(50)} unknown_field`);
    expect(JSON.stringify(body).length).toBeLessThan(2000);
  });

  it('tells nothing of what answers', async () => {
    const { headers } = await app().fetch('/dev/v1/me');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
