import { type Scope, SCOPES } from '../../src/common/scopes.js';
import { bodyOf, type Endpoint, ENDPOINTS, expectApiError, ownPathOf } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const OPEN = ENDPOINTS.filter(({ scope }) => scope === null);
const SCOPED = ENDPOINTS.flatMap((endpoint) =>
  endpoint.scope === null ? [] : [{ ...endpoint, scope: endpoint.scope }],
);
const MATRIX = SCOPED.flatMap((endpoint) => SCOPES.map((given) => ({ ...endpoint, given })));

onOneEngine('The scope table of the source document, section 5.6', (database) => {
  const app = useTestApp(database);
  let owner: Member;
  beforeAll(async () => {
    owner = await Member.join(app());
  });

  async function call(endpoint: Endpoint, scopes: readonly Scope[]): Promise<Response> {
    const path = await ownPathOf(endpoint, owner);
    const { user, client } = owner;
    const { token } = await Member.join(app(), { user, client, scopes });
    return app().call(token, endpoint.method, path, bodyOf(endpoint));
  }

  async function expectLacking(answer: Response, scope: Scope): Promise<void> {
    const body = await expectApiError(answer, 403, 'insufficient_scope');
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="${scope}"`,
    );
    expect(body.error_description).toContain(scope);
  }

  it.each(MATRIX.filter(({ scope, given }) => given === scope))(
    'C38 $method $path is open to $given',
    async ({ given, ...endpoint }) => {
      expect((await call(endpoint, [given])).status).toBe(endpoint.success);
    },
  );

  it.each(MATRIX.filter(({ scope, given }) => given !== scope))(
    'O115 C38 $method $path is closed to $given alone',
    async ({ given, ...endpoint }) => {
      await expectLacking(await call(endpoint, [given]), endpoint.scope);
    },
  );

  it.each(SCOPED)('O115 C38 $method $path is closed to all other scopes', async (endpoint) => {
    const others = SCOPES.filter((scope) => scope !== endpoint.scope);
    await expectLacking(await call(endpoint, others), endpoint.scope);
  });

  it.each(OPEN)(
    'C38 $method $path is open to every valid token, also one without a scope',
    async (endpoint) => {
      for (const scopes of [[], ...SCOPES.map((scope) => [scope]), SCOPES])
        expect((await call(endpoint, scopes)).status).toBe(endpoint.success);
    },
  );

  it('O115 C40 A lacking scope is refused before the body is looked at', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    const answer = await member.postRaw('/posts', '{', { 'content-type': 'application/json' });
    await expectApiError(answer, 403, 'insufficient_scope');
  });

  it('O115 lets a token with every scope do everything, and one with none nothing about the user', async () => {
    expect((await owner.get('/me')).status).toBe(200);
    const { user, client } = owner;
    const none = await Member.join(app(), { user, client, scopes: [] });
    for (const endpoint of SCOPED) {
      const path = await ownPathOf(endpoint, owner);
      const answer = await app().call(none.token, endpoint.method, path, bodyOf(endpoint));
      await expectLacking(answer, endpoint.scope);
    }
  });
});
