import { SCOPES } from '../../src/platform/access/scopes.js';
import { Browser } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { useGrant } from '../support/grant.js';
import { authorizeLink, exchange, redirectParameters } from '../support/oauth-flow.js';
import {
  expectErrorPageWithReturnLink,
  expectTokenError,
  json,
  type TokenBody,
} from '../support/responses.js';

const METADATA = '/.well-known/oauth-authorization-server';

onOneEngine('Scope offline_access', (database) => {
  const { app, fixture, refresh, renew } = useGrant(database);

  it.each([
    'offline_access profile.read posts.read',
    'profile.read offline_access posts.read',
    ' posts.read profile.read  offline_access offline_access ',
  ])('O12 is accepted at authorization and never shown or granted: "%s"', async (scope) => {
    // So that the grant of the consent is the newest one.
    app().clock.advance(1000);
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(fixture.client, { scope }), fixture.user);
    expect(consent.html).not.toContain('offline_access');
    const boxes = [...consent.html.matchAll(/name="scope" value="([^"]*)"/g)];
    expect(boxes.map(([, value]) => value)).toEqual(['profile.read', 'posts.read']);
    const done = await visitor.allow(consent, ['profile.read', 'posts.read', 'offline_access']);
    const code = redirectParameters(done).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(app(), fixture.client, code, { scope }));
    expect(tokens.scope).toBe('profile.read posts.read');
    expect((await renew(tokens, { scope })).scope).toBe('profile.read posts.read');
    const again = await visitor.open(authorizeLink(fixture.client, { scope }));
    expect(again.html).not.toContain('type="checkbox"');
    expect(again.html).not.toContain('offline_access');
  });

  it.each(['offline_access', ' offline_access offline_access '])(
    'O12 alone is rejected at authorization, with the scopes to add: "%s"',
    async (scope) => {
      const page = await new Browser(app()).open(authorizeLink(fixture.client, { scope }));
      const error = expectErrorPageWithReturnLink(page, fixture.client, 'invalid_scope');
      expect(error.get('error_description')).toBe(
        `offline_access alone requests no access. Add one or more of ${SCOPES.join(' ')}, separated by spaces.`,
      );
    },
  );

  it.each([
    'Offline_Access profile.read',
    'offline_access,profile.read',
    'offline profile.read',
    'offline_access openid profile.read',
  ])('O12 is accepted in this spelling only, and nothing else with it: "%s"', async (scope) => {
    const page = await new Browser(app()).open(authorizeLink(fixture.client, { scope }));
    expectErrorPageWithReturnLink(page, fixture.client, 'invalid_scope');
  });

  it.each([
    ['offline_access', SCOPES.join(' ')],
    ['offline_access offline_access', SCOPES.join(' ')],
    ['offline_access posts.read', 'posts.read'],
  ])('O94 does not change a refresh with the scope "%s"', async (scope, granted) => {
    const tokens = await renew(fixture.first, { scope });
    expect(tokens.scope).toBe(granted);
    const repeated = await renew(fixture.first, { scope });
    expect(repeated.refresh_token).toBe(tokens.refresh_token);
    const plain = scope.replaceAll(/ ?offline_access ?/g, '');
    const same = await refresh(fixture.first, { scope: plain === '' ? undefined : plain });
    expect((await json<TokenBody>(same)).refresh_token).toBe(tokens.refresh_token);
  });

  it('O95 does not make another scope valid in a refresh', async () => {
    for (const scope of ['offline_access no.such', 'Offline_Access'])
      await expectTokenError(await refresh(fixture.first, { scope }), 'invalid_scope');
    await renew(fixture.first);
  });

  it('O121 is listed by the metadata of the server, and not by that of the API, which has no such access', async () => {
    const server = await json<{ scopes_supported: string[] }>(await app().fetch(METADATA));
    expect(server.scopes_supported.at(-1)).toBe('offline_access');
    const resource = await app().fetch('/.well-known/oauth-protected-resource/dev/v1');
    expect(await resource.text()).not.toContain('offline_access');
  });

  it('O145 is left out of a registration', async () => {
    const client = await app().addClient({ scope: 'offline_access posts.read' });
    expect(client.scopes).toEqual(['posts.read']);
    await expect(app().addClient({ scope: 'offline_access' })).rejects.toThrow(
      'An app needs at least one scope.',
    );
  });
});
