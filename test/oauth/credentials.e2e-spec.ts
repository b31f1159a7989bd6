import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { Browser, hiddenField } from '../support/browser.js';
import {
  authorizeLink,
  exchange,
  newCode,
  redirectParameters,
  requestToken,
  VERIFIER,
  sendRefresh,
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
/** Number of credentials of each kind to compare. */
const CREDENTIALS_OF_EACH_KIND = 12;

onOneEngine('Credentials', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  it('O133 stores no secret, code, token, verifier, one-time password, cookie or form token of a full flow', async () => {
    const raw: string[] = [VERIFIER];
    for (const kind of ['confidential', 'public'] as const) {
      const newClient = await app().addClient({ kind });
      const user = await app().addUser();
      const visitor = new Browser(app());
      const consent = await visitor.signIn(authorizeLink(newClient), user);
      const done = await visitor.allow(consent, newClient.scopes);
      const code = redirectParameters(done).get('code') ?? '';
      expect([...visitor.cookies.keys()].toSorted()).toEqual(['browser', 'session']);
      raw.push(...visitor.cookies.values(), hiddenField(consent, 'token'));
      const first = await json<TokenBody>(await exchange(app(), newClient, code));
      const second = await json<TokenBody>(
        await sendRefresh(app(), newClient, first.refresh_token),
      );
      await app().call(second.access_token, 'POST', '/posts', { content: 'Hello' });
      raw.push(code, await app().sms.password(user.phone));
      if (newClient.secret !== undefined) raw.push(newClient.secret);
      for (const { access_token, refresh_token } of [first, second])
        raw.push(access_token, refresh_token);
    }
    const dump = await dumpDatabase(app());
    expect(dump).toMatch(/access_tokens \[\{"hash":"[0-9a-f]{64}"/);
    for (const value of raw) {
      expect(dump).not.toMatch(asWholeWord(value));
      // Six digits are a one-time password, which has no prefix and may occur inside a longer number.
      if (value.length > 6) expect(dump).not.toContain(value.replace(/^svc_?[a-z]+_/, ''));
    }
    for (const prefix of ['svc_sec_', 'svcac_', 'svcat_', 'svcrt_'])
      expect(dump).not.toContain(prefix);
  });

  it('O134 makes each credential of a prefix and 32 random bytes, all different', async () => {
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    const random = new Set<string>();
    for (let each = 0; each < CREDENTIALS_OF_EACH_KIND; each += 1) {
      const consent = await visitor.open(authorizeLink(client));
      const done = await visitor.allow(consent, client.scopes);
      const code = redirectParameters(done).get('code') ?? '';
      const issued = await json<TokenBody>(await exchange(app(), client, code));
      const { secret = '' } = await app().addClient();
      for (const [prefix, value] of [
        ['svc_sec_', secret],
        ['svcac_', code],
        ['svcat_', issued.access_token],
        ['svcrt_', issued.refresh_token],
      ] as const) {
        expect(value.startsWith(prefix)).toBe(true);
        const bytes = Buffer.from(value.slice(prefix.length), 'base64url');
        expect(`${prefix}${bytes.toString('base64url')}`).toBe(value);
        expect(bytes).toHaveLength(32);
        random.add(bytes.toString('hex'));
      }
    }
    expect(random.size).toBe(4 * CREDENTIALS_OF_EACH_KIND);
  });

  it('O135 rejects an id in upper case', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    const comment = await member.comment(post.id);
    const { user } = member;
    const { manager } = app().dataSource;
    const inUpperCase = (id: string): string => id.replace(/[^_]+$/, (end) => end.toUpperCase());
    for (const clientId of [
      inUpperCase(member.client.clientId),
      member.client.clientId.toUpperCase(),
    ]) {
      const form = { grant_type: 'refresh_token', refresh_token: 'x' };
      const token = await requestToken(app(), { ...member.client, clientId }, form);
      expect(await json(token)).toMatchObject({ error: 'invalid_client' });
      const page = await new Browser(app()).open(authorizeLink({ ...member.client, clientId }));
      expectPage(page, 400);
      expect(await manager.countBy(App, { clientId })).toBe(0);
    }
    expect(await manager.countBy(User, { id: inUpperCase(user.id) })).toBe(0);
    expect((await member.get(`/posts/${inUpperCase(post.id)}`)).status).toBe(404);
    expect((await member.delete(`/comments/${inUpperCase(comment.id)}`)).status).toBe(404);
    expect((await member.delete(`/comments/${comment.id}`)).status).toBe(200);
  });

  it('O135 rejects credentials with upper and lower case swapped', async () => {
    const code = await newCode(app(), client);
    const swapped = (value: string): string =>
      value.replace(/[A-Za-z0-9_-]{43}$/, (random) =>
        [...random]
          .map((letter) =>
            letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
          )
          .join(''),
      );
    expect((await exchange(app(), client, swapped(code))).status).toBe(400);
    const issued = await json<TokenBody>(await exchange(app(), client, code));
    expect((await app().call(swapped(issued.access_token), 'GET', '/me')).status).toBe(401);
    const grant = { grant_type: 'refresh_token', refresh_token: swapped(issued.refresh_token) };
    expect((await requestToken(app(), client, grant)).status).toBe(400);
  });
});
