import { formatScope, SCOPES } from '../../src/common/scopes.js';
import { App } from '../../src/modules/oauth/apps/app.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { Browser } from '../support/browser.js';
import {
  approve,
  authorizeLink,
  exchange,
  redirectParameters,
  requestToken,
  VERIFIER,
} from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import {
  dumpDatabase,
  expectPage,
  json,
  asWholeWord,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const MINUTE = 60_000;
/** How many credentials of each kind are compared. */
const EACH = 50;

onOneEngine('Credentials and codes of the source document', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let redirect: URLSearchParams;
  let tokens: TokenBody;

  beforeEach(async () => {
    client = await app().addClient();
    redirect = await approve(app(), await app().addUser(), client, { state: 'a random value' });
    tokens = await json<TokenBody>(await exchange(app(), client, redirect.get('code') ?? ''));
  });

  async function newCode(): Promise<string> {
    return (await approve(app(), await app().addUser(), client)).get('code') ?? '';
  }

  it('client_id: a string starting svc_app_', () => {
    expect(client.clientId).toMatch(/^svc_app_[0-9a-z]{26}$/);
  });

  it('client_secret: a string starting svc_sec_, for confidential clients only', async () => {
    expect(client.secret).toMatch(/^svc_sec_[A-Za-z0-9_-]{43}$/);
    expect((await app().addClient({ kind: 'public' })).secret).toBeUndefined();
  });

  it('authorization code: a string starting svcac_, single use, for 5 minutes', async () => {
    expect(redirect.get('code')).toMatch(/^svcac_[A-Za-z0-9_-]{43}$/);
    expect((await exchange(app(), client, redirect.get('code') ?? '')).status).toBe(400);
    const [inTime, late] = [await newCode(), await newCode()];
    app().clock.advance(5 * MINUTE - 1);
    expect((await exchange(app(), client, inTime)).status).toBe(200);
    app().clock.advance(1);
    expect((await exchange(app(), client, late)).status).toBe(400);
  });

  it('access token: a string starting svcat_, for 1 hour', async () => {
    const fresh = await json<TokenBody>(await exchange(app(), client, await newCode()));
    expect(fresh.access_token).toMatch(/^svcat_[A-Za-z0-9_-]{43}$/);
    expect(fresh.expires_in).toBe(3600);
    app().clock.advance(60 * MINUTE - 1);
    expect((await app().call(fresh.access_token, 'GET', '/me')).status).toBe(200);
    app().clock.advance(1);
    expect((await app().call(fresh.access_token, 'GET', '/me')).status).toBe(401);
  });

  it('refresh token: a string starting svcrt_', () => {
    expect(tokens.refresh_token).toMatch(/^svcrt_[A-Za-z0-9_-]{43}$/);
  });

  it('state: echoed back on the redirect', () => {
    expect(redirect.get('state')).toBe('a random value');
  });

  it('Token response: access_token, token_type, expires_in, refresh_token and scope', () => {
    expect(tokens).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: formatScope(SCOPES),
    });
  });
});

/** Of a page's form. */
function formToken(html: string): string {
  const [, token] = /<input[^>]*name="token"[^>]*value="([^"]+)"/.exec(html) ?? [];
  if (token === undefined) throw new Error(`The page has no form token:\n${html}`);
  return token;
}

onOneEngine('What the tables hold of credentials', (database) => {
  const app = useTestApp(database);

  it('O133 After a full flow no table holds a secret, code, token, verifier, one-time password, cookie or form token', async () => {
    const raw: string[] = [VERIFIER];
    for (const kind of ['confidential', 'public'] as const) {
      const client = await app().addClient({ kind });
      const user = await app().addUser();
      const visitor = new Browser(app());
      const consent = await visitor.signIn(authorizeLink(client), user);
      const done = await visitor.submit(consent, '/oauth/authorize/decision', {
        scope: [...client.scopes],
        decision: 'approve',
      });
      const code = redirectParameters(done).get('code') ?? '';
      expect([...visitor.cookies.keys()].toSorted()).toEqual(['browser', 'session']);
      raw.push(...visitor.cookies.values(), formToken(consent.html));
      const first = await json<TokenBody>(await exchange(app(), client, code));
      const second = await json<TokenBody>(
        await requestToken(app(), client, {
          grant_type: 'refresh_token',
          refresh_token: first.refresh_token,
        }),
      );
      await app().call(second.access_token, 'POST', '/posts', { content: 'Hello' });
      raw.push(code, await app().sms.password(user.phone), client.secret ?? code);
      for (const { access_token, refresh_token } of [first, second])
        raw.push(access_token, refresh_token);
    }
    const dump = await dumpDatabase(app());
    expect(dump).toMatch(/access_tokens \[\{"hash":"[0-9a-f]{64}"/);
    for (const value of raw) {
      expect(dump).not.toMatch(asWholeWord(value));
      if (value.length > 6) expect(dump).not.toContain(value.replace(/^svc_?[a-z]+_/, ''));
    }
    for (const prefix of ['svc_sec_', 'svcac_', 'svcat_', 'svcrt_'])
      expect(dump).not.toContain(prefix);
  });

  it('O134 Each credential is a prefix and 32 random bytes, and of fifty no two are the same', async () => {
    const client = await app().addClient();
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    const random = new Set<string>();
    for (let each = 0; each < EACH; each += 1) {
      const consent = await visitor.open(authorizeLink(client));
      const allowed = { scope: [...client.scopes], decision: 'approve' };
      const done = await visitor.submit(consent, '/oauth/authorize/decision', allowed);
      const code = redirectParameters(done).get('code') ?? '';
      const tokens = await json<TokenBody>(await exchange(app(), client, code));
      const { secret = '' } = await app().addClient();
      for (const [prefix, value] of [
        ['svc_sec_', secret],
        ['svcac_', code],
        ['svcat_', tokens.access_token],
        ['svcrt_', tokens.refresh_token],
      ] as const) {
        expect(value.startsWith(prefix)).toBe(true);
        const bytes = Buffer.from(value.slice(prefix.length), 'base64url');
        expect(`${prefix}${bytes.toString('base64url')}`).toBe(value);
        expect(bytes).toHaveLength(32);
        random.add(bytes.toString('hex'));
      }
    }
    expect(random.size).toBe(4 * EACH);
  });

  it('O135 An id in upper case is the id of nobody', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    const comment = await member.comment(post.id);
    const { client, user } = member;
    const { manager } = app().dataSource;
    const inUpperCase = (id: string): string => id.replace(/[^_]+$/, (end) => end.toUpperCase());
    for (const clientId of [inUpperCase(client.clientId), client.clientId.toUpperCase()]) {
      const form = { grant_type: 'refresh_token', refresh_token: 'x' };
      const token = await requestToken(app(), { ...client, clientId }, form);
      expect(await json(token)).toMatchObject({ error: 'invalid_client' });
      const page = await new Browser(app()).open(authorizeLink({ ...client, clientId }));
      expectPage(page, 400);
      expect(await manager.countBy(App, { clientId })).toBe(0);
    }
    expect(await manager.countBy(User, { id: inUpperCase(user.id) })).toBe(0);
    expect((await member.get(`/posts/${inUpperCase(post.id)}`)).status).toBe(404);
    expect((await member.delete(`/comments/${inUpperCase(comment.id)}`)).status).toBe(404);
    expect((await member.delete(`/comments/${comment.id}`)).status).toBe(200);
  });

  it('O135 With upper and lower case swapped nothing opens', async () => {
    const client = await app().addClient();
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const swapped = (value: string): string =>
      value.replace(/[A-Za-z0-9_-]{43}$/, (random) =>
        [...random]
          .map((letter) =>
            letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
          )
          .join(''),
      );
    expect((await exchange(app(), client, swapped(code))).status).toBe(400);
    const tokens = await json<TokenBody>(await exchange(app(), client, code));
    expect((await app().call(swapped(tokens.access_token), 'GET', '/me')).status).toBe(401);
    const grant = { grant_type: 'refresh_token', refresh_token: swapped(tokens.refresh_token) };
    expect((await requestToken(app(), client, grant)).status).toBe(400);
  });
});
