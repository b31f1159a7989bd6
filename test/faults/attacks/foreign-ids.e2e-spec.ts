import { newId } from '../../../src/platform/ids.js';
import { newSecret } from '../../../src/platform/secrets.js';
import { AppsService } from '../../../src/modules/oauth/clients/apps.service.js';
import { approve, obtainTokens, sendForm } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { comparable } from '../../support/responses.js';
import { statementsWithoutBackground, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { routesOf } from './undocumented-paths.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** A valid body for a POST to each path that requires one. */
const BODIES: Readonly<Record<string, object>> = {
  '/dev/v1/posts/:id/comments': { text: 'Mine now' },
};
const COMMENT_PATH = '/dev/v1/comments/:id';
const POST_PATHS = [
  '/dev/v1/posts/:id',
  '/dev/v1/posts/:id/analytics',
  '/dev/v1/posts/:id/comments',
];
const API_PATHS = [COMMENT_PATH, ...POST_PATHS];
/** Tested by connected-apps (O146), form-redirects (O31) and post-page of test/oauth and test/api. */
const PAGE_PATHS = [
  '/account/apps/:client_id',
  '/oauth/authorize/:transaction/code',
  '/oauth/authorize/:transaction/consent',
  '/oauth/authorize/:transaction/phone',
  '/post/:id',
];
/** Paths whose parameter is not an id, or whose id belongs to nobody. */
const PATHS_WITHOUT_ID = [
  '/.well-known/{*path}',
  '/docs/guide/:name',
  '/account/sign-in/:transaction/code',
  '/account/sign-in/:transaction/phone',
  '/account/{*path}',
  '/assets/:name.js',
  '/assets/app-logos/:client_id/:hash',
  '/oauth/*path',
  '/oauth/authorize/{*path}',
];

onSqlite('Foreign ids', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000' });
  let owner: Member;
  let thief: Member;
  /** Ids of the thief's items, all older than the owner's. */
  let thiefItems: { post: string; comment: string };
  /** Ids of the owner's posts and comment. */
  let ownerItems: { public: string; hidden: string[]; comment: string };

  beforeAll(async () => {
    thief = await Member.join(app());
    const post = await thief.publish();
    thiefItems = { post: post.id, comment: (await thief.comment(post.id)).id };
    app().clock.advance(1000);
    owner = await Member.join(app(), { client: thief.client });
    const { id } = await owner.publish();
    const hidden = [];
    for (const visibility of ['private', 'neighborhood'])
      hidden.push((await owner.publish({ content: 'Ours', visibility })).id);
    const { id: deleted } = await owner.publish();
    await owner.delete(`/posts/${deleted}`);
    hidden.push(deleted);
    ownerItems = { public: id, hidden, comment: (await owner.comment(id)).id };
  });

  const unknownId = (prefix: 'post' | 'cmt' | 'svc_app'): string =>
    newId(prefix, app().clock.now());

  /** Asserts that the responses for a foreign and an unknown id are identical. Returns one of them. */
  async function expectSame(
    foreign: Promise<Response>,
    unknown: Promise<Response>,
  ): Promise<Awaited<ReturnType<typeof comparable>>> {
    const [one, other] = [await comparable(await foreign), await comparable(await unknown)];
    expect(one).toEqual(other);
    return one;
  }

  it('have a test for each route with an id', () => {
    const paths = routesOf(app().nest)
      .map(({ path }) => path)
      .filter((path) => /[:*]/.test(path));
    expect([...new Set(paths)].toSorted()).toEqual(
      [...API_PATHS, ...PAGE_PATHS, ...PATHS_WITHOUT_ID].toSorted(),
    );
  });

  it('get the same API response as unknown ids, for every method', async ({ task }) => {
    const send = (member: Member, path: string, id: string, method: string): Promise<Response> =>
      app().fetch(path.replace(':id', id), {
        method,
        headers: {
          authorization: `Bearer ${member.token}`,
          'content-type': 'application/json',
          'idempotency-key': id,
        },
        ...(method === 'POST' && { body: JSON.stringify(BODIES[path] ?? {}) }),
      });
    let pairs = 0;
    for (const path of API_PATHS) {
      const isComment = path === COMMENT_PATH;
      const foreign = isComment ? [ownerItems.comment] : [ownerItems.public, ...ownerItems.hidden];
      const absent = unknownId(isComment ? 'cmt' : 'post');
      for (const method of METHODS)
        for (const id of foreign) {
          const { status } = await expectSame(
            send(thief, path, id, method),
            send(thief, path, absent, method),
          );
          expect(status).toBeOneOf([404, 405, 204]);
          pairs += 1;
        }
    }
    for (const path of POST_PATHS)
      expect((await send(owner, path, ownerItems.public, 'GET')).status).toBe(200);
    const { id } = await owner.comment(ownerItems.public);
    expect((await send(owner, '/dev/v1/comments/:id', id, 'DELETE')).status).toBe(200);
    reportFigure(
      task,
      `${pairs} requests with foreign ids, each with the response of an unknown id`,
    );
  });

  it('execute the same statements as unknown ids, so that timing reveals nothing', async () => {
    const statementsOf = (method: string, path: string, body?: object): Promise<string[]> =>
      statementsWithoutBackground(app(), () => app().call(thief.token, method, path, body));
    const calls: [method: string, path: (id: string) => string, body?: object][] = [
      ['GET', (id) => `/posts/${id}`],
      ['GET', (id) => `/posts/${id}/analytics`],
      ['GET', (id) => `/posts/${id}/comments`],
      ['POST', (id) => `/posts/${id}/comments`, { text: 'Mine now' }],
      ['DELETE', (id) => `/posts/${id}`],
    ];
    for (const [method, path, body] of calls)
      expect(await statementsOf(method, path(ownerItems.public), body)).toEqual(
        await statementsOf(method, path(unknownId('post')), body),
      );
    expect(await statementsOf('DELETE', `/comments/${ownerItems.comment}`)).toEqual(
      await statementsOf('DELETE', `/comments/${unknownId('cmt')}`),
    );
  });

  it('reveal nothing in a query or a body', async () => {
    const headers = { authorization: `Bearer ${thief.token}` };
    const list = (before: string): Promise<Response> =>
      app().fetch(`/dev/v1/posts?limit=1&before=${before}`, { headers });
    const { body } = await expectSame(list(ownerItems.public), list(unknownId('post')));
    expect(body).toContain(thiefItems.post);
    const reply = (parentId: string): Promise<Response> =>
      app().fetch(`/dev/v1/posts/${thiefItems.post}/comments`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'Mine now', parentId }),
      });
    const { status } = await expectSame(reply(ownerItems.comment), reply(unknownId('cmt')));
    expect(status).toBe(400);
    expect((await reply(thiefItems.comment)).status).toBe(201);
  });

  it('get the response of unknown codes, tokens and apps at the client endpoints', async () => {
    const other = await app().addClient();
    const { access_token, refresh_token } = await obtainTokens(app(), owner.client);
    const code = (await approve(app(), owner.user, owner.client)).get('code') ?? '';
    const exchange = {
      grant_type: 'authorization_code',
      redirect_uri: other.redirectUris[0] ?? '',
    };
    const [unknownAccess, unknownRefresh] = [newSecret('svcat'), newSecret('svcrt')];
    const pairs = [
      ['/oauth/introspect', { token: access_token }, { token: unknownAccess }, 200],
      ['/oauth/introspect', { token: refresh_token }, { token: unknownRefresh }, 200],
      [
        '/oauth/token',
        { grant_type: 'refresh_token', refresh_token },
        { grant_type: 'refresh_token', refresh_token: unknownRefresh },
        400,
      ],
      ['/oauth/token', { ...exchange, code }, { ...exchange, code: newSecret('svcac') }, 400],
    ] as const;
    for (const [path, foreign, unknown, expected] of pairs) {
      const send = (form: Record<string, string>) => sendForm(app(), path, other, form);
      expect((await expectSame(send(foreign), send(unknown))).status).toBe(expected);
    }
    const disabled = await app().addClient();
    await app().service(AppsService).changeStatus(disabled.clientId, 'disabled', { actor: 'test' });
    const guess = (clientId: string): Promise<Response> =>
      sendForm(app(), '/oauth/token', { clientId, secret: newSecret('svc_sec') }, pairs[2][1]);
    for (const { clientId } of [disabled, other])
      expect((await expectSame(guess(clientId), guess(unknownId('svc_app')))).status).toBe(401);
  });
});
