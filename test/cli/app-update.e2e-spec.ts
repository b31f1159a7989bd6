import { AppsService, type RegisteredApp } from '../../src/modules/oauth/clients/apps.service.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail, type AuditEntry } from '../support/logs.js';
import { type TestClient } from '../support/test-app.js';
import { Browser } from '../support/browser.js';
import {
  approve,
  authorizeLink,
  CHALLENGE,
  exchange,
  redirectParameters,
} from '../support/oauth-flow.js';
import { useCommands } from '../support/commands.js';
import { expectPage, json, countGrantsAndCodes, type TokenBody } from '../support/responses.js';

const OLD_URI = 'https://garden.example/callback';
const NEW_URI = 'https://garden.example/new';
const DECISION = '/oauth/authorize/decision';

onOneEngine('Command "app update"', (database) => {
  const { app, cli } = useCommands(database);
  let client: TestClient;
  let id: string;
  beforeEach(async () => {
    client = await app().addClient({ scope: 'profile.read posts.read' });
    id = client.clientId;
  });

  const update = (...args: string[]): Promise<Record<string, unknown>> =>
    cli.json('app', 'update', id, '--yes', ...args);
  const find = (): Promise<RegisteredApp> => app().service(AppsService).get(id);

  async function updateEvents(): Promise<AuditEntry[]> {
    const trail = await auditTrail(app().dataSource, id);
    return trail.filter(({ action }) => action === 'app.updated');
  }

  it('O145 replaces the given values, keeps the others, and prints the updated app', async () => {
    const before = await find();
    await update('--name', ' Garden & Shed ');
    expect(await find()).toEqual({ ...before, name: 'Garden & Shed' });
    await update('--redirect-uri', NEW_URI, '--redirect-uri', OLD_URI);
    const updated = { ...before, name: 'Garden & Shed', redirectUris: [NEW_URI, OLD_URI] };
    expect(await find()).toEqual(updated);
    expect(await update('--scope', 'posts.write profile.read')).toMatchObject({
      client_id: id,
      name: 'Garden & Shed',
      redirect_uris: [NEW_URI, OLD_URI],
      scopes: ['profile.read', 'posts.write'],
      created_at: before.createdAt.toISOString(),
    });
    expect(await find()).toEqual({ ...updated, scopes: ['profile.read', 'posts.write'] });
  });

  it('O145 records the old and new values', async () => {
    await update('--name', 'Shed', '--redirect-uri', NEW_URI, '--scope', 'posts.read');
    await update('--name', 'Shed');
    expect(await updateEvents()).toMatchObject([
      {
        details: {
          name: { from: 'Garden Share', to: 'Shed' },
          redirectUris: { from: [OLD_URI], to: [NEW_URI] },
          scope: { from: 'profile.read posts.read', to: 'posts.read' },
        },
      },
    ]);
  });

  it('O21 requires PKCE from an app with --require-pkce, and no longer with --no-require-pkce', async () => {
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    expect(await update('--require-pkce')).toMatchObject({ requires_pkce: true });
    expectPage(await visitor.open(authorizeLink(client)), 400);
    const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    expectPage(await visitor.open(authorizeLink(client, challenge)), 200);
    expect(await update('--require-pkce')).toMatchObject({ requires_pkce: true });
    expect(await update('--no-require-pkce')).toMatchObject({ requires_pkce: false });
    expectPage(await visitor.open(authorizeLink(client)), 200);
    expect((await updateEvents()).map(({ details }) => details)).toEqual([
      { requiresPkce: { from: false, to: true } },
      { requiresPkce: { from: true, to: false } },
    ]);
  });

  it('O21 exchanges a code that was issued without PKCE before the app required it', async () => {
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    await update('--require-pkce');
    expect((await exchange(app(), client, code)).status).toBe(200);
  });

  it('O21 refuses to make PKCE optional for a public app', async () => {
    const { clientId } = await app().addClient({ kind: 'public' });
    const outcome = await cli.run('app', 'update', clientId, '--no-require-pkce');
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: 'A public app always requires PKCE.\n',
    });
    expect((await cli.run('app', 'update', clientId, '--require-pkce')).stderr).toBe(
      'No change.\n',
    );
  });

  it.each([
    [
      'a wildcard',
      ['--redirect-uri', NEW_URI, '--redirect-uri', 'https://*.garden.example'],
      'wildcard',
    ],
    ['an unknown scope', ['--name', 'Shed', '--scope', 'posts.delete'], 'no scope "posts.delete"'],
    ['no scope at all', ['--scope', ' '], 'at least one scope'],
    [
      'one redirect URI twice',
      ['--redirect-uri', NEW_URI, '--redirect-uri', NEW_URI],
      'contain a duplicate',
    ],
  ])(
    'O145 rejects %s in a new and in an existing app, and changes nothing',
    async (_title, args, sentence) => {
      const before = await app().service(AppsService).list();
      const valid = ['--name', 'Shed', '--redirect-uri', NEW_URI, '--scope', 'posts.read'];
      for (const words of [
        ['create', ...valid],
        ['update', id, '--yes'],
      ]) {
        const { code, stdout, stderr } = await cli.run('app', ...words, ...args);
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toMatch(sentence);
      }
      expect(await app().service(AppsService).list()).toEqual(before);
      expect(await updateEvents()).toEqual([]);
    },
  );

  it('O39 grants neither a scope that was removed during the sign-in nor one that was added', async () => {
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    await update('--scope', 'profile.read posts.write');
    const redirect = redirectParameters(
      await visitor.allow(consent, ['profile.read', 'posts.read', 'posts.write']),
    );
    const tokens = await exchange(app(), client, redirect.get('code') ?? '');
    expect((await json<TokenBody>(tokens)).scope).toBe('profile.read');
  });

  it('O39 leaves a scope that was removed during the sign-in out of the consent page', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const earlierPage = await visitor.open(authorizeLink(client));
    await visitor.signIn(authorizeLink(client), user);
    await update('--scope', 'posts.read');
    const { html } = await visitor.submit(earlierPage, '/oauth/authorize/sign-in', {
      phone: user.phone,
    });
    const boxes = [...html.matchAll(/type="checkbox" name="scope" value="([^"]*)"/g)];
    expect(boxes.map(([, value]) => value)).toEqual(['posts.read']);
  });

  it('O39 issues no code when all requested scopes were removed during the sign-in', async () => {
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    await update('--scope', 'posts.write');
    const decision = { scope: client.scopes.slice(), decision: 'approve' };
    const page = await visitor.submit(consent, DECISION, decision);
    expectPage(page, 400);
    expect(page.html).toContain('The app may no longer request the access that it asked you for');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });
});
