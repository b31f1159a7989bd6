import createClient, { type Client } from 'openapi-fetch';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import type { paths } from '../../../openapi/types.js';
import { approve } from '../../support/oauth-flow.js';
import { onOneEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';

/** The code of a partner that has only the document; `npm run types` compiles it. */
onOneEngine('Generated client', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let credentials: { client_id: string; client_secret?: string };
  beforeAll(async () => {
    client = await app().addClient();
    credentials = { client_id: client.clientId, client_secret: client.secret };
  });

  const asForm = { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
  const anonymous = (): Client<paths> => createClient<paths>({ baseUrl: app().baseUrl });
  const authorized = (token: string): Client<paths> =>
    createClient<paths>({
      baseUrl: app().baseUrl,
      headers: { authorization: `Bearer ${token}` },
    });

  /** Approves all scopes and exchanges the code. */
  async function signedIn(): Promise<{ api: Client<paths>; refreshToken: string }> {
    const user = await app().addUser({ name: 'Ana Lee' });
    const code = (await approve(app(), user, client)).get('code') ?? '';
    const { data } = await anonymous().POST('/oauth/token', {
      body: {
        grant_type: 'authorization_code',
        code,
        redirect_uri: client.redirectUris[0] ?? '',
        ...credentials,
      },
      ...asForm,
    });
    return {
      api: authorized(data?.access_token ?? ''),
      refreshToken: data?.refresh_token ?? '',
    };
  }

  it('C144 publishes, reads, lists and deletes with typed responses', async () => {
    const { api } = await signedIn();
    const { data: me } = await api.GET('/dev/v1/me');
    expect(me?.name).toBe('Ana Lee');

    const published = await api.POST('/dev/v1/posts', {
      body: { content: 'From a typed client', tags: ['typed'], visibility: 'neighborhood' },
    });
    expect(published.response.status).toBe(201);
    const id = published.data?.id ?? '';
    expect(published.response.headers.get('location')).toBe(`/dev/v1/posts/${id}`);
    const path = { id };

    const { data: post } = await api.GET('/dev/v1/posts/{id}', { params: { path } });
    expect(post).toMatchObject({ content: 'From a typed client', tags: ['typed'], reachKm: null });
    const { data: page } = await api.GET('/dev/v1/posts', { params: { query: { limit: 1 } } });
    expect([page?.meta.total, page?.data[0]?.id]).toEqual([1, id]);

    const { data: comment } = await api.POST('/dev/v1/posts/{id}/comments', {
      params: { path },
      body: { text: 'Count me in!' },
    });
    expect(comment?.author.name).toBe('Ana Lee');
    const { data: comments } = await api.GET('/dev/v1/posts/{id}/comments', { params: { path } });
    expect(comments?.data.map(({ text }) => text)).toEqual(['Count me in!']);
    const { data: analytics } = await api.GET('/dev/v1/posts/{id}/analytics', { params: { path } });
    expect([analytics?.likes, analytics?.comments]).toEqual([0, 1]);

    const ofComment = { params: { path: { id: comment?.id ?? '' } } };
    expect((await api.DELETE('/dev/v1/comments/{id}', ofComment)).data?.deleted).toBe(true);
    expect((await api.DELETE('/dev/v1/posts/{id}', { params: { path } })).data?.deleted).toBe(true);
  });

  it('C144 rejects invalid requests at compile time, as the service does at run time', async () => {
    const { api } = await signedIn();
    const statuses = await Promise.all([
      // @ts-expect-error A title is text.
      api.POST('/dev/v1/posts', { body: { title: ['Here'] } }),
      // @ts-expect-error Tags are a list.
      api.POST('/dev/v1/posts', { body: { content: 'Here', tags: 'party' } }),
      // @ts-expect-error The visibility does not exist.
      api.POST('/dev/v1/posts', { body: { content: 'Here', visibility: 'friends' } }),
      // @ts-expect-error A limit is a number.
      api.GET('/dev/v1/posts', { params: { query: { limit: 'all' } } }),
    ]);
    expect(statuses.map(({ response }) => response.status)).toEqual(statuses.map(() => 400));
    // @ts-expect-error The path does not exist.
    expect((await api.GET('/dev/v1/drafts')).response.status).toBe(404);
  });

  it('C144 reads the metadata, refreshes, introspects and revokes', async () => {
    const { refreshToken } = await signedIn();
    const metadata = await anonymous().GET('/.well-known/oauth-authorization-server');
    expect(metadata.data?.token_endpoint).toBe(`${app().baseUrl}/oauth/token`);
    const { data: tokens } = await anonymous().POST('/oauth/token', {
      body: { grant_type: 'refresh_token', refresh_token: refreshToken, ...credentials },
      ...asForm,
    });
    expect(tokens?.scope.split(' ')).toEqual(SCOPES);
    const token = tokens?.access_token ?? '';
    const body = { token, ...credentials };
    const introspect = () => anonymous().POST('/oauth/introspect', { body, ...asForm });
    expect((await introspect()).data).toMatchObject({ active: true, client_id: client.clientId });
    const revoked = await anonymous().POST('/oauth/revoke', { body, ...asForm });
    expect(revoked.response.status).toBe(200);
    expect((await introspect()).data?.active).toBe(false);
    const rejected = await authorized(token).GET('/dev/v1/me');
    expect(rejected.error?.error).toBe('invalid_token');
  });
});
