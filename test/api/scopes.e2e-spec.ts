import { type Scope, SCOPES } from '../../src/platform/access/scopes.js';
import {
  bodyOf,
  type Endpoint,
  ENDPOINTS,
  expectApiError,
  pathWithNewIds,
} from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { rateLimits, UNLIMITED, useTestApp } from '../support/test-app.js';

const UNSCOPED = ENDPOINTS.filter(({ scope }) => scope === null);
const SCOPED = ENDPOINTS.flatMap((endpoint) =>
  endpoint.scope === null ? [] : [{ ...endpoint, scope: endpoint.scope }],
);

onOneEngine('Scopes (product requirements, section 5.6)', (database) => {
  // Each test gets further tokens of one user for one app.
  const app = useTestApp(database, rateLimits({ 'grants-per-user': UNLIMITED }));
  let owner: Member;
  beforeAll(async () => {
    owner = await Member.join(app());
  });

  async function call(endpoint: Endpoint, scopes: readonly Scope[]): Promise<Response> {
    const path = await pathWithNewIds(endpoint, owner);
    const { user, client } = owner;
    const { token } = await Member.join(app(), { user, client, scopes });
    return app().call(token, endpoint.method, path, bodyOf(endpoint));
  }

  async function expectInsufficientScope(response: Response, scope: Scope): Promise<void> {
    const body = await expectApiError(response, 403, 'insufficient_scope');
    expect(response.headers.get('www-authenticate')?.split(', ')).toEqual([
      'Bearer realm="dev"',
      'error="insufficient_scope"',
      `error_description="The access token lacks the scope ${scope}"`,
      `scope="${scope}"`,
      `resource_metadata="${app().baseUrl}/.well-known/oauth-protected-resource/dev/v1"`,
    ]);
    expect(body.error_description).toContain(scope);
  }

  it.each(SCOPED)('C38 allows $method $path with $scope', async (endpoint) => {
    expect((await call(endpoint, [endpoint.scope])).status).toBe(endpoint.success);
  });

  it.each(SCOPED)(
    'O115 C38 rejects $method $path with each other scope, all of them, and none',
    async (endpoint) => {
      const others = SCOPES.filter((scope) => scope !== endpoint.scope);
      for (const given of [[], ...others.map((scope) => [scope]), others])
        await expectInsufficientScope(await call(endpoint, given), endpoint.scope);
    },
  );

  it.each(UNSCOPED)(
    'C38 allows $method $path with every valid token, also without a scope',
    async (endpoint) => {
      for (const scopes of [[], ...SCOPES.map((scope) => [scope]), SCOPES])
        expect((await call(endpoint, scopes)).status).toBe(endpoint.success);
    },
  );
});
