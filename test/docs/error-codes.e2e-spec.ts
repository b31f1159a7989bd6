import { readFileSync } from 'node:fs';
import { API_ERRORS } from '../../src/platform/errors.js';
import { Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { type ErrorBody, json } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { DECISION } from '../support/sign-in.js';

/** Returns the text of the entry with this anchor. */
function entryText(page: string, anchor: string): string {
  const found = [
    ...page.matchAll(new RegExp(`<(section|tr) id="${anchor}">(.*?)</\\1>`, 'gs')),
  ].map(([, , inner = '']) => inner.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '));
  expect(found, anchor).toHaveLength(1);
  return found[0]?.trim() ?? '';
}

/** The first error body in a page, without its request id and host. */
function shownIn(file: string): Partial<ErrorBody> {
  const [, block = '{}'] = /^```json\n(.*?)^```$/ms.exec(readFileSync(file, 'utf8')) ?? [];
  return comparable(JSON.parse(block) as ErrorBody);
}

function comparable({ request_id, doc_url, ...rest }: ErrorBody): Partial<ErrorBody> {
  expect(request_id).toMatch(/^req_\w{26}$/);
  return { ...rest, doc_url: new URL(doc_url).pathname + new URL(doc_url).hash };
}

onSqlite('Page of error codes', (database) => {
  const app = useTestApp(database);
  let page: string;
  let client: TestClient;
  beforeAll(async () => {
    page = await (await app().fetch('/docs/errors')).text();
    client = await app().addClient();
  });

  it('has one entry for each doc_url of the API, with its status', () => {
    for (const [code, { status }] of Object.entries(API_ERRORS))
      expect(entryText(page, code)).toMatch(new RegExp(`^${code} ${status} [A-Z].*\\.$`));
  });

  it('has unique anchors, and links only to existing anchors', () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(2);
    expect(ids).toEqual(expect.arrayContaining(links));
  });

  it('explains each field error code of the OpenAPI document and links to them from invalid_request', async () => {
    const document = await json<{
      components: { schemas: { FieldErrorCode: { enum: string[] } } };
    }>(await app().fetch('/openapi.json'));
    const { enum: codes } = document.components.schemas.FieldErrorCode;
    expect(codes).toHaveLength(17);
    for (const code of codes)
      expect(entryText(page, `field-${code}`)).toMatch(new RegExp(`^${code} [A-Z].*\\.$`));
    expect(page.match(/<tr id="field-/g)).toHaveLength(codes.length);
    expect(/<section id="invalid_request">.*?<\/section>/s.exec(page)?.[0]).toContain(
      'href="#field-codes"',
    );
  });

  it('shows a response of the API as its example', async () => {
    const member = await Member.join(app(), { client });
    const body = { content: 'Hello', tags: ['a', ' '], latitude: 91, longitude: 0 };
    const { request_id, ...expected } = await json<ErrorBody>(await member.post('/posts', body));
    const shown = /<pre><code>(.*?)<\/code><\/pre>/s.exec(page)?.[1]?.replaceAll('&quot;', '"');
    expect(request_id).not.toBe('');
    expect(JSON.parse(shown ?? '')).toEqual({ ...expected, request_id: expect.any(String) });
  });

  it('shows responses of the API as examples on other pages, too', async () => {
    const reader = await Member.join(app(), { scopes: ['posts.read'] });
    const denied = await reader.post('/posts', { content: 'Hi' });
    expect(shownIn('docs/walkthrough.md')).toEqual(comparable(await json<ErrorBody>(denied)));
    const member = await Member.join(app());
    const invalid = await member.post('/posts', { content: 'Hi', latitude: 91, longitude: 0 });
    expect(shownIn('docs/guide/errors.md')).toEqual(comparable(await json<ErrorBody>(invalid)));
  });

  describe('of OAuth', () => {
    /** Asserts that the entry of the code lists this status, or `redirect`. */
    function expectListed(code: string | null | undefined, status: string): void {
      const [, listed = ''] =
        /^\w+ ((?:redirect|\d{3})(?:, \d{3})*) /.exec(entryText(page, `oauth-${code}`)) ?? [];
      expect(listed.split(', '), code ?? '').toContain(status);
    }

    it.each([
      ['invalid_request', { code_challenge_method: 'plain' }],
      ['unsupported_response_type', { response_type: 'token' }],
      ['invalid_scope', { scope: 'nothing' }],
      ['interaction_required', { prompt: 'none' }],
      ['request_not_supported', { request: 'x' }],
      ['request_uri_not_supported', { request_uri: 'x' }],
    ])('lists %s as an error of a redirect', async (code, parameters) => {
      const visitor = new Browser(app());
      const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
      // Otherwise the error is a page with a link.
      await visitor.allow(consent, client.scopes);
      const { location } = await visitor.open(authorizeLink(client, parameters));
      expect(new URL(location ?? '').searchParams.get('error')).toBe(code);
      expectListed(code, 'redirect');
    });

    it('lists access_denied as an error of a redirect', async () => {
      const visitor = new Browser(app());
      const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
      const { location } = await visitor.submit(consent, DECISION, {
        decision: 'deny',
      });
      expect(new URL(location ?? '').searchParams.get('error')).toBe('access_denied');
      expectListed('access_denied', 'redirect');
    });

    const post = (path: string, form: Record<string, string>, secret = client.secret ?? '') =>
      app().fetch(path, {
        method: 'POST',
        body: new URLSearchParams({ client_id: client.clientId, client_secret: secret, ...form }),
      });

    it('lists each error code of the token endpoint with its status', async () => {
      const responses = [
        await post('/oauth/token', { grant_type: 'password' }),
        await post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x' }),
        await post('/oauth/token', { grant_type: 'refresh_token' }),
        await app().fetch('/oauth/token'),
        await app().fetch('/oauth/nothing'),
        await post('/oauth/token', { padding: 'x'.repeat(300_000) }),
      ];
      // The limit is 20 failures, so the last of 21 returns 429.
      for (let attempts = 0; attempts < 20; attempts += 1)
        responses.push(await post('/oauth/token', { grant_type: 'password' }, 'wrong'));
      responses.push(await post('/oauth/token', { grant_type: 'password' }, 'wrong'));
      const seen = new Set<string>();
      for (const response of responses) {
        const { error } = await json<ErrorBody>(response);
        expectListed(error, String(response.status));
        seen.add(`${response.status} ${error}`);
      }
      expect([...seen].toSorted()).toEqual([
        '400 invalid_grant',
        '400 invalid_request',
        '400 unsupported_grant_type',
        '401 invalid_client',
        '404 invalid_request',
        '405 invalid_request',
        '413 invalid_request',
        '429 too_many_attempts',
      ]);
    });
  });
});
