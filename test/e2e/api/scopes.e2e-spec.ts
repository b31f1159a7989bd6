import { SCOPES } from '../../../src/common/scopes.js';
import { onEachEngine } from '../../support/engines.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from './member.js';
import { expectRefusal } from './refusal.js';

const ENDPOINTS = [
  ['GET', '/me', 'profile.read', 200],
  ['POST', '/posts', 'posts.write', 201],
  ['GET', '/posts', 'posts.read', 200],
  ['GET', '/posts/:post', 'posts.read', 200],
  ['GET', '/posts/:post/analytics', 'analytics.read', 200],
  ['DELETE', '/posts/:post', 'posts.write', 200],
  ['GET', '/posts/:post/comments', 'posts.read', 200],
  ['POST', '/posts/:post/comments', 'posts.write', 201],
  ['DELETE', '/comments/:comment', 'posts.write', 200],
] as const;

const MATRIX = ENDPOINTS.flatMap(([method, path, own, success]) =>
  SCOPES.map((scope) => ({ method, path, own, success, scope })),
);

onEachEngine('The scope table of the source document, section 5.6', (database) => {
  const app = useTestApp(database);
  let owner: Member;
  beforeAll(async () => {
    owner = await Member.join(app());
  });

  async function call(method: string, path: string, scope: (typeof SCOPES)[number]) {
    const { id } = await owner.publish();
    const comment = await owner.comment(id);
    const { user, client } = owner;
    const { token } = await Member.join(app(), { user, client, scopes: [scope] });
    const concrete = path.replace(':post', id).replace(':comment', comment.id);
    const body = method === 'POST' ? { [path === '/posts' ? 'content' : 'text']: 'Hi' } : undefined;
    return app().call(token, method, concrete, body);
  }

  it.each(MATRIX.filter(({ scope, own }) => scope === own))(
    '$method $path is open to $scope',
    async ({ method, path, scope, success }) => {
      expect((await call(method, path, scope)).status).toBe(success);
    },
  );

  it.each(MATRIX.filter(({ scope, own }) => scope !== own))(
    'O115 $method $path is closed to $scope alone',
    async ({ method, path, scope, own }) => {
      const answer = await call(method, path, scope);
      const body = await expectRefusal(answer, 403, 'insufficient_scope');
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", scope="${own}"`,
      );
      expect(body.error_description).toContain(own);
    },
  );

  it('O115 refuses a lacking scope before it looks at the body', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    const answer = await member.postRaw('/posts', '{', { 'content-type': 'application/json' });
    await expectRefusal(answer, 403, 'insufficient_scope');
  });

  it('O115 lets a token with every scope do everything, and one with none nothing', async () => {
    expect((await owner.get('/me')).status).toBe(200);
    const { user, client } = owner;
    const none = await Member.join(app(), { user, client, scopes: [] });
    await expectRefusal(await none.get('/me'), 403, 'insufficient_scope');
  });
});
