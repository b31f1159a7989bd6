import { userInfo } from 'node:os';
import { sha256 } from '../../src/platform/secrets.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { App, AppRedirectUri } from '../../src/modules/oauth/clients/client.entities.js';
import { AppsRepository } from '../../src/modules/oauth/clients/apps.repository.js';
import { expectFailure } from '../support/command-line.js';
import { onOneEngine, onSqlite } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { useTestApp } from '../support/test-app.js';
import { useCommands } from '../support/commands.js';

const SECRET = /svc_sec_[A-Za-z0-9_-]{43}/;

interface AppJson {
  client_id: string;
  client_secret?: string;
  posts_hidden: boolean;
  plan?: string;
  limit?: number | null;
}

const NEW_URI = 'https://garden.example/new';

onOneEngine('Commands "app"', (database) => {
  const { app: service, cli } = useCommands(database);
  const dataSource = () => service().dataSource;

  const create = ['app', 'create', '--name', 'Garden Share', '--scope', 'posts.write profile.read'];
  const CALLBACK = ['--redirect-uri', 'https://garden.example/callback'];
  const register = (...more: string[]): Promise<AppJson> =>
    cli.json<AppJson>(...create, '--allow-similar-name', ...CALLBACK, ...more);

  /** Hashes of the secrets that are valid at `time`. */
  async function liveSecrets(clientId: string, time: Date): Promise<string[]> {
    const secrets = await new AppsRepository(dataSource()).findLiveSecrets(clientId, time);
    return secrets.map(({ hash }) => hash);
  }

  it('O145 registers a confidential app and prints it as JSON, including its secret', async () => {
    const uris = ['https://garden.example/callback', 'http://localhost:8080/callback'];
    const app = await register('--redirect-uri', uris[1] ?? '');
    expect(app).toEqual({
      client_id: expect.stringMatching(/^svc_app_[0-9a-z]{26}$/),
      client_secret: expect.stringMatching(SECRET),
      name: 'Garden Share',
      type: 'confidential',
      redirect_uris: uris,
      origins: [],
      scopes: ['profile.read', 'posts.write'],
      requires_pkce: false,
      test: false,
      access_token_seconds: null,
      plan: 'default',
      limit: 100,
      reference: null,
      publisher: null,
      verified: false,
      client_uri: null,
      logo_uri: null,
      policy_uri: null,
      tos_uri: null,
      status: 'enabled',
      posts_hidden: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
    });
    expect(await liveSecrets(app.client_id, new Date())).toEqual([sha256(app.client_secret ?? '')]);
  });

  it('O145 gives a public app no secret', async () => {
    const app = await register('--public');
    expect(app).toMatchObject({ type: 'public', requires_pkce: true });
    expect(app).not.toHaveProperty('client_secret');
    expect(await liveSecrets(app.client_id, new Date())).toEqual([]);
  });

  it('O123 registers the origins of a public app, and shows, changes and records them', async () => {
    const origins = ['capacitor://localhost', 'http://tauri.localhost'];
    const flags = origins.flatMap((origin) => ['--origin', origin]);
    const app = await register('--public', ...flags);
    const { client_id: id } = app;
    expect(app).toMatchObject({ origins });
    expect(await cli.json('app', 'show', id)).toMatchObject({ origins });
    expect(await cli.json<AppJson[]>('app', 'list')).toContainEqual(
      expect.objectContaining({ client_id: id, origins }),
    );
    expect((await cli.run('app', 'show', id)).stdout).toMatch(
      /^origins +capacitor:\/\/localhost\n +http:\/\/tauri\.localhost$/m,
    );
    const update = ['app', 'update', id, '--yes'];
    expect(await cli.json(...update, '--origin', 'ionic://localhost')).toMatchObject({
      origins: ['ionic://localhost'],
      redirect_uris: ['https://garden.example/callback'],
    });
    expect((await cli.run(...update, '--origin', 'ionic://localhost')).stderr).toBe('No change.\n');
    expect(await cli.json(...update, '--no-origin')).toMatchObject({ origins: [] });
    const trail = await auditTrail(dataSource(), id);
    expect(trail.map(({ details }) => details.origins)).toEqual([
      origins.join(' '),
      { from: origins.join(' '), to: 'ionic://localhost' },
      { from: 'ionic://localhost', to: null },
    ]);
  });

  it.each([
    ['null', 'The origin null cannot be registered: local files and sandboxed pages'],
    ['file://', 'The origin file:// cannot be registered: local files and sandboxed pages'],
    ['https://app.example/', 'The origin https://app.example/ must be'],
  ])('O125 refuses to register the origin %s', async (origin, sentence) => {
    const before = await cli.json<AppJson[]>('app', 'list');
    const outcome = await cli.run(...create, ...CALLBACK, '--public', '--origin', origin);
    expectFailure(outcome, sentence);
    expect(await cli.json('app', 'list')).toEqual(before);
  });

  it('O125 refuses origins for a confidential app', async () => {
    const { client_id: id } = await register();
    const sentence = 'Only a public app can have origins';
    const origin = ['--origin', 'capacitor://localhost'];
    expectFailure(await cli.run(...create, ...CALLBACK, ...origin), sentence);
    expectFailure(await cli.run('app', 'update', id, ...origin), sentence);
    expect(await cli.json('app', 'show', id)).toMatchObject({ origins: [] });
  });

  it('O145 keeps a redirect URI that an earlier version accepted, but adds none like it', async () => {
    const { client_id: id } = await register();
    const old = 'https://garden.example/cb?Code=1';
    await dataSource().manager.update(AppRedirectUri, { clientId: id }, { uri: old });
    const update = ['app', 'update', id, '--yes'];
    expect(await cli.json(...update, '--name', 'Garden Shed 2')).toMatchObject({
      redirect_uris: [old],
    });
    const added = ['--redirect-uri', old, '--redirect-uri', NEW_URI];
    expect(await cli.json(...update, ...added)).toMatchObject({ redirect_uris: [old, NEW_URI] });
    const refused = await cli.run(...update, ...added, '--redirect-uri', `${old}2`);
    expectFailure(refused, 'must not have the parameter "Code"');
  });

  it('O145 refuses a redirect URI of the service itself', async () => {
    // The default of PUBLIC_URL.
    const own = 'http://localhost:3000/callback';
    const outcome = await cli.run(...create, '--redirect-uri', own);
    expectFailure(outcome, 'must not be on this server');
  });

  it('O21 registers an app that requires PKCE, and shows and records it', async () => {
    const app = await register('--require-pkce');
    expect(app).toMatchObject({ type: 'confidential', requires_pkce: true });
    expect(await cli.json('app', 'show', app.client_id)).toMatchObject({ requires_pkce: true });
    expect((await cli.run('app', 'show', app.client_id)).stdout).toMatch(/^requires_pkce +true$/m);
    const trail = await auditTrail(dataSource(), app.client_id);
    expect(trail.find(({ action }) => action === 'app.created')?.details).toMatchObject({
      requiresPkce: true,
    });
    expect(await register('--public', '--require-pkce')).toMatchObject({ requires_pkce: true });
  });

  it('O145 prints the secret once on standard output and a warning on standard error', async () => {
    const { code, stdout, stderr } = await cli.run(...create, ...CALLBACK, '--allow-similar-name');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^client_id {6}svc_app_\S+\nclient_secret {2}svc_sec_\S+\n/);
    expect(stderr).toContain('shown only once');
    expect(stderr).not.toMatch(SECRET);
    const [clientId = ''] = /svc_app_\w+/.exec(stdout) ?? [];
    expect((await cli.run('app', 'show', clientId)).stdout).not.toMatch(SECRET);
  });

  it('O145 records the user of the operating system as actor by default', async () => {
    const { client_id: id } = await register();
    const [event] = await auditTrail(dataSource(), id);
    expect(event).toMatchObject({ actor: userInfo().username, reason: null });
  });

  it('O145 lists and shows the created apps without secrets', async () => {
    const { client_secret: _, plan, limit, ...app } = await register();
    expect({ plan, limit }).toEqual({ plan: 'default', limit: 100 });
    expect(await cli.json('app', 'show', app.client_id)).toMatchObject(app);
    expect(await cli.json<AppJson[]>('app', 'list')).toContainEqual(app);
    const { stdout } = await cli.run('app', 'list');
    expect(stdout).toMatch(/^CLIENT_ID +TYPE +STATUS +NAME\n/);
    expect(stdout).toContain(`${app.client_id}  confidential  enabled`);
  });

  it('C146 hides the posts of an app with "app disable --hide-posts", also later, until it is enabled', async () => {
    const { client_id: id } = await register();
    const disable = ['app', 'disable', id, '--yes'];
    const hidden = async (): Promise<boolean> => {
      const shown = await cli.json<AppJson>('app', 'show', id);
      const { stdout } = await cli.run('app', 'show', id);
      expect(/^posts +(hidden|shown)$/m.exec(stdout)?.[1] === 'hidden').toBe(shown.posts_hidden);
      return shown.posts_hidden;
    };
    expect(await cli.json(...disable)).toMatchObject({ status: 'disabled', posts_hidden: false });
    expect(await hidden()).toBe(false);
    expect(await cli.json(...disable, '--hide-posts')).toMatchObject({
      status: 'disabled',
      posts_hidden: true,
    });
    expect(await hidden()).toBe(true);
    await cli.json(...disable, '--hide-posts');
    expect(await cli.json(...disable)).toMatchObject({ posts_hidden: true });
    expect(await cli.json('app', 'enable', id)).toMatchObject({
      status: 'enabled',
      posts_hidden: false,
    });
    expect(await hidden()).toBe(false);
    await cli.json(...disable, '--hide-posts');
    const trail = await auditTrail(dataSource(), id);
    expect(
      trail
        .filter(({ action }) => /^app\.(disabled|enabled)$/.test(action))
        .map(({ action, details }) => [action, details]),
    ).toEqual([
      ['app.disabled', {}],
      ['app.disabled', { postsHidden: true }],
      ['app.enabled', {}],
      ['app.disabled', { postsHidden: true }],
    ]);
  });

  describe('names', () => {
    const named = (name: string, ...more: string[]): string[] =>
      ['app', 'create', '--name', name, '--scope', 'posts.read'].concat(CALLBACK, more);

    it('O164 rejects a name with an invisible character and names it', async () => {
      const invisible = await cli.run(...named('Shed \u202egro.lapyap'));
      expectFailure(invisible, 'The name contains U+202E, which is');
      const control = await cli.run(...named('Shed\u001b[2J'));
      expect(control).toMatchObject({ code: 2, stdout: '' });
      expect(control.stderr).toContain('but contains U+001B.');
    });

    it('O164 rejects a name that looks like that of a disabled app, unless --allow-similar-name', async () => {
      const first = await cli.json<AppJson>(...named('Tool Library'));
      await cli.json('app', 'disable', first.client_id, '--yes');
      const before = await cli.json<AppJson[]>('app', 'list');
      for (const name of ['Tool Library', 'T\u043e\u043el Library'])
        expectFailure(
          await cli.run(...named(name)),
          `The name looks like that of the app "Tool Library" (${first.client_id}). Add --allow-similar-name`,
        );
      expect(await cli.json('app', 'list')).toHaveLength(before.length);
      const second = await cli.json<AppJson>(...named('T\u043eol Library', '--allow-similar-name'));
      const events = [
        ...(await auditTrail(dataSource(), first.client_id)),
        ...(await auditTrail(dataSource(), second.client_id)),
      ].filter(({ action }) => action === 'app.created');
      expect(events.map(({ details }) => details.similarTo)).toEqual([undefined, first.client_id]);
    });

    it('O164 rejects a similar name of an update, but not a similar name of the same app', async () => {
      await cli.json(...named('Bike Barn'));
      const { client_id: id } = await cli.json<AppJson>(...named('Book Barn'));
      expectFailure(await cli.run('app', 'update', id, '--name', 'B\u0456ke barn'), 'looks like');
      expect(await cli.json('app', 'update', id, '--name', 'Book  barn')).toMatchObject({
        name: 'Book  barn',
      });
      const similar = ['--name', 'Bike barn', '--allow-similar-name'];
      expect(await cli.json('app', 'update', id, ...similar)).toMatchObject({ name: 'Bike barn' });
      const trail = await auditTrail(dataSource(), id);
      expect(trail.map(({ details }) => details).filter(({ similarTo }) => similarTo)).toEqual([
        {
          name: { from: 'Book  barn', to: 'Bike barn' },
          similarTo: expect.stringMatching(/^svc_app_/),
        },
      ]);
    });

    it('O164 rejects a name with an added sign, of a publisher, of the network, or with the badge of verified apps', async () => {
      const rose = await cli.json<AppJson>(...named('Rose', '--publisher', 'Rosarium Ltd'));
      const { client_id: id } = await cli.json<AppJson>(...named('Tulip'));
      const similar = `looks like that of the app "Rose" (${rose.client_id}).`;
      for (const [name, problem] of [
        ['Rose\u2122', similar],
        ['Rose\u00aa', similar],
        ['Rose\u2461', similar],
        ['Rosarium Ltd', 'looks like the publisher "Rosarium Ltd" of the app "Rose"'],
        ['Neighbourhood network', 'looks like the name of the network, "Neighbourhood network".'],
        ['Verified by Rose', 'looks like the badge of verified apps; remove "verified"'],
      ] as const)
        for (const args of [named(name), ['app', 'update', id, '--name', name]]) {
          const rejected = await cli.run(...args);
          expectFailure(rejected, `The name ${problem}`);
          expect(rejected.stderr).toContain('Add --allow-similar-name to use it nevertheless.');
        }
      expect(await cli.json('app', 'show', id)).toMatchObject({ name: 'Tulip' });
    });

    it('O164 compares the name of an app that loses its verification, without refusing the loss alone', async () => {
      const network = ['--publisher', 'Oak Ltd', '--verified'];
      const { client_id: id } = await cli.json<AppJson>(
        ...named('Neighbourhood network', ...network),
      );
      expectFailure(
        await cli.run('app', 'update', id, '--publisher', 'Elm Ltd'),
        'The name looks like the name of the network',
      );
      await cli.json('app', 'update', id, '--no-verified');
      const trail = await auditTrail(dataSource(), id);
      expect(trail.map(({ details }) => details).at(-1)).toMatchObject({ similarTo: 'network' });
    });

    it('O164 lets an app keep such a name while something else changes', async () => {
      await cli.json(...named('Lily'));
      const { client_id: id } = await cli.json<AppJson>(
        ...named('Lily\u2122', '--allow-similar-name'),
      );
      const update = [
        'app',
        'update',
        id,
        '--scope',
        'posts.read posts.write',
        '--name',
        'Lily\u2122',
      ];
      expect(await cli.json(...update)).toMatchObject({ name: 'Lily\u2122' });
    });

    it('O165 escapes invisible characters of stored names in text and in JSON', async () => {
      const { client_id: id } = await cli.json<AppJson>(...named('Seed Swap'));
      // Version 1.0 accepted such names.
      const name = 'Seed \u202e\u200bpawS';
      await dataSource().manager.update(App, { clientId: id }, { name });
      const escaped = String.raw`Seed \u202e\u200bpawS`;
      const outputs = [
        await cli.run('app', 'show', id),
        await cli.run('app', 'show', id, '--json'),
        await cli.run('app', 'list'),
      ];
      for (const { stdout, stderr } of outputs) {
        expect(stdout).toContain(escaped);
        expect(stdout + stderr).not.toMatch(/\p{Cf}/u);
      }
      expect(await cli.json('app', 'show', id)).toMatchObject({ name });
    });
  });
});

onSqlite('Names of apps: order of statements', (database) => {
  const app = useTestApp(database);

  it('O164 compares the name after the write, because a transaction that reads first fails if another process writes in between', async () => {
    const apps = app().service(AppsService);
    const change = { actor: 'tester' };
    const redirectUris = ['https://shed.example/callback'];
    const registration = { kind: 'public', redirectUris, scope: 'posts.read' } as const;
    let clientId = '';
    const statements = await app().statementsOf(async () => {
      const registered = await apps.register({ ...registration, name: 'Tool Shed' }, change);
      ({ clientId } = registered.app);
      await apps.update(clientId, { name: 'Tool Store' }, change);
      const copy = apps.register({ ...registration, name: 'ToolStore' }, change);
      await expect(copy).rejects.toThrow(`the app "Tool Store" (${clientId})`);
    });
    const afterBegin = statements.filter((_, index) => statements[index - 1]?.startsWith('BEGIN'));
    expect(afterBegin.map((statement) => statement.split(' ')[0])).toEqual([
      // Each locks the names first.
      'INSERT',
      'INSERT',
      'INSERT',
    ]);
    expect((await apps.list()).map(({ name }) => name)).not.toContain('ToolStore');
  });
});
