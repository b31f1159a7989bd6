import { sha256 } from '../../src/platform/secrets.js';
import { RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import type { Site } from './browser.js';
import type { TestDatabase } from './database.js';
import { isTokenAccepted, sendRefresh } from './oauth-flow.js';
import { json, type TokenBody } from './responses.js';
import { type TestApp, type TestClient, useTestApp } from './test-app.js';

export type Tokens = Pick<TokenBody, 'access_token' | 'refresh_token'>;

/** Tokens as an exchange issues them, without the pages before it. */
export async function issueTokens(
  app: TestApp,
  client: TestClient,
  user: UserWithPhone,
): Promise<Tokens> {
  const { accessToken, refreshToken } = await app.issueTokens(user, client, client.scopes);
  return { access_token: accessToken, refresh_token: refreshToken };
}

/** An application with an app, a user and the tokens of a grant for each test. */
export function useGrant(database: TestDatabase, env?: Record<string, string>) {
  const app = useTestApp(database, env);
  const fixture = {} as { client: TestClient; user: UserWithPhone; first: Tokens };
  beforeEach(async () => {
    fixture.client = await app().addClient();
    fixture.user = await app().addUser();
    fixture.first = await issueTokens(app(), fixture.client, fixture.user);
  });

  const refresh = (
    { refresh_token }: Tokens,
    form: Record<string, string | undefined> = {},
    target = fixture.client,
    site: Site = app(),
  ): Promise<Response> => sendRefresh(site, target, refresh_token, form);

  /** Asserts that a refresh succeeds. Returns the tokens of its response. */
  async function renew(tokens: Tokens, form: Record<string, string> = {}): Promise<TokenBody> {
    const response = await refresh(tokens, form);
    expect(response.status).toBe(200);
    return json<TokenBody>(response);
  }

  const isAccepted = ({ access_token }: Tokens): Promise<boolean> =>
    isTokenAccepted(app(), access_token);

  /** The row of the refresh token. */
  function rowOf({ refresh_token }: Tokens): Promise<RefreshToken> {
    const hash = sha256(refresh_token);
    return app().dataSource.manager.findOneByOrFail(RefreshToken, { hash });
  }

  return { app, fixture, refresh, renew, isAccepted, rowOf };
}
