import { API_ERRORS } from '../../src/platform/errors.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Errors (product requirements, section 7)', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1' });

  it('returns 403 insufficient_scope for a token without the scope of the endpoint', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await expectApiError(await member.get('/me'), 403, 'insufficient_scope');
  });

  it('returns 429 quota_exceeded with a description when the quota is used up', async () => {
    const member = await Member.join(app());
    await member.publish();
    const response = await member.post('/posts', { content: 'Hi' });
    const body = await expectApiError(response, 429, 'quota_exceeded');
    expect(body.error_description).toMatch(/quota of 1 post per month/);
  });

  it.each(['/posts/post_01kahq5f3veqdr8bn3tdmx3q0a', '/comments/cmt_01kahq5f3veqdr8bn3tdmx3q0a'])(
    'returns 404 not_found for %s',
    async (path) => {
      const member = await Member.join(app());
      await expectApiError(await member.delete(path), 404, 'not_found');
    },
  );

  it('creates a new request id for each request', async () => {
    const ids = new Set<string>();
    for (let request = 0; request < 3; request += 1)
      ids.add((await expectApiError(await app().fetch('/x'), 404, 'not_found')).request_id);
    expect(ids.size).toBe(3);
  });

  it('has a section for each error code on the page of doc_url', async () => {
    const { doc_url } = await json<ErrorBody>(await app().fetch('/dev/v1/me'));
    const page = await fetch(doc_url);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const html = await page.text();
    for (const code of Object.keys(API_ERRORS)) expect(html).toContain(`id="${code}"`);
  });

  it('lists several violations in the order of the fields', async () => {
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

  it('lists violations of both query parameters of a list endpoint', async () => {
    const member = await Member.join(app());
    await expectFieldErrors(
      await member.get('/posts?limit=0&page=0'),
      'page too_small',
      'limit too_small',
    );
  });

  it('returns a short body when the name of a field is long', async () => {
    const member = await Member.join(app());
    const longName = { content: 'Hi', ['x'.repeat(200_000)]: 1 };
    const response = await member.post('/posts', longName);
    const body = await expectFieldErrors(response, `${'x'.repeat(50)} unknown_field`);
    expect(JSON.stringify(body).length).toBeLessThan(2000);
  });

  it('sends no header that names the server software, and forbids content sniffing', async () => {
    const { headers } = await app().fetch('/dev/v1/me');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
