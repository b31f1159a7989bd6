import { DataSource } from 'typeorm';
import { newSecret } from '../../src/platform/secrets.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { bodyOf, ENDPOINTS, expectApiError, pathWithUnknownIds } from '../support/api.js';
import { Browser } from '../support/browser.js';
import { approve, exchange, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { getRaw, requestHead, sendBytes } from '../support/raw-request.js';
import { statementsWithoutBackground, type TestApp, useTestApp } from '../support/test-app.js';

const HOUR_MS = 3_600_000;

function me(app: TestApp, authorization: string, query = ''): Promise<Response> {
  return app.fetch(`/dev/v1/me${query}`, { headers: { authorization } });
}

/** The challenge of a response, without the URL of the metadata, which each challenge has (RFC 9728 §5.1). */
function challengeOf(response: Response): string | undefined {
  const [challenge, metadata] = (response.headers.get('www-authenticate') ?? '').split(
    ', resource_metadata=',
  );
  expect(metadata).toBe(
    `"${new URL('/.well-known/oauth-protected-resource/dev/v1', response.url).href}"`,
  );
  return challenge;
}

async function expectUnauthorized(response: Response): Promise<void> {
  await expectApiError(response, 401, 'unauthorized');
  expect(challengeOf(response)).toBe('Bearer realm="dev"');
}

async function expectInvalidToken(response: Response, reason: string): Promise<void> {
  const { error_description } = await expectApiError(response, 401, 'invalid_token');
  expect(challengeOf(response)).toBe(
    `Bearer realm="dev", error="invalid_token", error_description="${reason}"`,
  );
  expect(error_description.startsWith(`${reason}. `)).toBe(true);
}

onOneEngine('Bearer authentication', (database) => {
  const app = useTestApp(database);
  const MALFORMED = 'The access token is malformed';
  const UNKNOWN = 'The access token is unknown or was revoked';

  describe('without credentials', () => {
    it.each(['Bearer', 'Bearer ', 'Basic YTpi', 'Bearerx', 'svcat_abc', ','])(
      'O113 C30 treats the header "%s" as missing credentials',
      async (header) => {
        await expectUnauthorized(await me(app(), header));
      },
    );

    it('O116 C35 ignores a token in the query', async () => {
      const { token } = await Member.join(app());
      await expectUnauthorized(await app().fetch(`/dev/v1/me?access_token=${token}`));
    });

    it('O116 C35 ignores a token in the body', async () => {
      const { token } = await Member.join(app());
      const form = new URLSearchParams({ access_token: token, content: 'Hi' });
      const jsonBody = JSON.stringify(Object.fromEntries(form));
      for (const [type, body] of [
        ['application/x-www-form-urlencoded', form],
        ['application/json', jsonBody],
      ] as const) {
        const headers = { 'content-type': type };
        await expectUnauthorized(
          await app().fetch('/dev/v1/posts', { method: 'POST', headers, body }),
        );
      }
    });
  });

  describe('with an invalid token', () => {
    it.each([
      ['a word', 'x'],
      ['only the prefix', 'svcat_'],
      ['one character too short', `svcat_${'a'.repeat(42)}`],
      ['one character too long', `svcat_${'a'.repeat(44)}`],
      ['in another alphabet', `svcat_${'='.repeat(43)}`],
      ['in upper case', `SVCAT_${'a'.repeat(43)}`],
      ['with a space inside', `svcat_${'a'.repeat(21)} ${'a'.repeat(21)}`],
      ['two tokens in one header', `svcat_${'a'.repeat(43)}, Bearer svcat_${'a'.repeat(43)}`],
      ['8 kB long', `svcat_${'a'.repeat(8192)}`],
      ['not ASCII', `svcat_${'\u00e9'.repeat(43)}`],
    ])(
      'O114 C31 C36 C37 rejects a token as malformed without a database statement: %s',
      async (_, token) => {
        const statements = await statementsWithoutBackground(app(), async () => {
          await expectInvalidToken(await me(app(), `Bearer ${token}`), MALFORMED);
        });
        expect(statements).toEqual([]);
      },
    );

    it.each(ENDPOINTS)(
      'O113 O114 C29 C31 returns 401 without a token, and for a malformed and an unknown one, at $method $path',
      async (endpoint) => {
        const { method } = endpoint;
        const path = pathWithUnknownIds(endpoint);
        await expectUnauthorized(await app().fetch(`/dev/v1${path}`, { method }));
        for (const [token, reason] of [
          ['x', MALFORMED],
          [newSecret('svcat'), UNKNOWN],
        ] as const)
          await expectInvalidToken(await app().call(token, method, path, bodyOf(endpoint)), reason);
      },
    );

    it('O114 C31 rejects a well-formed token of another installation, with one database statement', async () => {
      const token = newSecret('svcat');
      const statements = await statementsWithoutBackground(app(), async () => {
        await expectInvalidToken(await me(app(), `Bearer ${token}`), UNKNOWN);
      });
      expect(statements).toEqual([expect.stringContaining('access_tokens')]);
    });

    it('O114 C37 returns 400 from the HTTP parser for a NUL byte in a token, and 401 for the text %00', async () => {
      const { token } = await Member.join(app());
      const lines = requestHead(app().baseUrl, 'GET', '/dev/v1/me');
      const authorization = `Authorization: Bearer ${token}`;
      expect((await sendBytes(app().baseUrl, [...lines, authorization])).status).toBe(200);
      expect((await sendBytes(app().baseUrl, [...lines, `${authorization}\0`])).status).toBe(400);
      await expectInvalidToken(await me(app(), `Bearer ${token}%00`), MALFORMED);
    });

    it('O114 C34 rejects a refresh token, a client secret and a value in the format of a code', async () => {
      const { user, client } = await Member.join(app());
      const { refreshToken } = await app().issueTokens(user, client, ['profile.read']);
      for (const credential of [refreshToken, client.secret, newSecret('svcac')])
        await expectInvalidToken(await me(app(), `Bearer ${credential}`), MALFORMED);
    });

    it('O114 C34 rejects an authorization code, which stays valid for its exchange', async () => {
      const client = await app().addClient();
      const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
      await expectInvalidToken(await me(app(), `Bearer ${code}`), MALFORMED);
      expect((await exchange(app(), client, code)).status).toBe(200);
    });

    it('O115 reports an expired token as expired, even if it lacks the required scope', async () => {
      const { token } = await Member.join(app(), { scopes: ['posts.read'] });
      await expectApiError(await me(app(), `Bearer ${token}`), 403, 'insufficient_scope');
      app().clock.advance(HOUR_MS);
      await expectInvalidToken(await me(app(), `Bearer ${token}`), 'The access token expired');
    });

    it('O114 C32 accepts a token for exactly one hour', async () => {
      const { token } = await Member.join(app());
      const start = app().clock.now();
      app().clock.advance(HOUR_MS - 1);
      expect((await me(app(), `Bearer ${token}`)).status).toBe(200);
      app().clock.advance(1);
      await expectInvalidToken(await me(app(), `Bearer ${token}`), 'The access token expired');
      app().clock.set(start.toISOString());
    });

    it.each<[string, (member: Member) => Promise<unknown>]>([
      [
        'its app revoked it',
        ({ client, token }) => sendForm(app(), '/oauth/revoke', client, { token }),
      ],
      [
        'the grant was revoked',
        async ({ user, client: { clientId } }) => {
          const { manager } = app().service(DataSource);
          const { id } = await manager.findOneByOrFail(Grant, { userId: user.id, clientId });
          const grants = app().service(GrantsService);
          await app()
            .service(TransactionRunner)
            .run((tx) => grants.revoke(tx, id, { actor: 'test' }));
        },
      ],
      [
        'the user disconnected the app',
        async ({ user, client }) => {
          const visitor = new Browser(app());
          await visitor.signInToAccount(user);
          await visitor.disconnect(client.clientId);
        },
      ],
      ['the user was deleted', ({ user: { id } }) => app().dataSource.manager.delete(User, { id })],
      [
        'the user was blocked',
        ({ user: { id } }) => app().dataSource.manager.update(User, { id }, { status: 'blocked' }),
      ],
    ])('O114 C33 rejects a token at once after %s', async (_, revoke) => {
      const member = await Member.join(app());
      expect((await me(app(), `Bearer ${member.token}`)).status).toBe(200);
      await revoke(member);
      await expectInvalidToken(await me(app(), `Bearer ${member.token}`), UNKNOWN);
    });

    it('O114 C33 rejects the tokens of a disabled app until it is enabled again', async () => {
      const { client, token } = await Member.join(app());
      const apps = app().service(AppsService);
      await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
      await expectInvalidToken(await me(app(), `Bearer ${token}`), UNKNOWN);
      await apps.changeStatus(client.clientId, 'enabled', { actor: 'test' });
      expect((await me(app(), `Bearer ${token}`)).status).toBe(200);
    });
  });

  describe('with a valid token', () => {
    it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  '])(
      'O117 C30 accepts the scheme "%s"',
      async (scheme) => {
        const { token } = await Member.join(app());
        expect((await me(app(), `${scheme} ${token}`)).status).toBe(200);
      },
    );

    it('O116 rejects a second token in the query with 400', async () => {
      const { token } = await Member.join(app());
      const response = await me(app(), `Bearer ${token}`, `?access_token=${token}`);
      await expectApiError(response, 400, 'invalid_request');
    });

    it('O116 rejects a second token in a form body with 415 and stores nothing', async () => {
      const { token, user } = await Member.join(app());
      const response = await app().fetch('/dev/v1/posts', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ access_token: token, content: 'Hi' }),
      });
      await expectApiError(response, 415, 'unsupported_media_type');
      expect(await app().dataSource.manager.countBy(Post, { userId: user.id })).toBe(0);
    });

    it('O116 C36 rejects two Authorization headers with 400', async () => {
      const { token } = await Member.join(app());
      const header = ['Authorization', `Bearer ${token}`];
      const url = `${app().baseUrl}/dev/v1/me`;
      const host = ['Host', new URL(url).host];
      expect((await getRaw(url, [...host, ...header])).status).toBe(200);
      const twice = await getRaw(url, [...host, ...header, ...header]);
      await expectApiError(twice, 400, 'invalid_request');
    });

    it('forbids shared caches to store the response', async () => {
      const member = await Member.join(app());
      expect((await member.get('/me')).headers.get('cache-control')).toBe('private, no-cache');
    });
  });
});
