import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { sha256 } from '../../src/platform/secrets.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine, onOneEngine, type TestDatabase } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { PNG } from '../support/logos.js';

const HOMEPAGE = 'https://garden.example/';
const PRIVACY = 'https://garden.example/privacy?lang=en#top';
const TERMS = 'http://garden.example/t%C3%A9rminos/jardín';
/** The identity of an app without any of the values. */
const NO_IDENTITY = {
  publisher: null,
  verified: false,
  client_uri: null,
  logo_uri: null,
  policy_uri: null,
  tos_uri: null,
};

interface AppJson {
  client_id: string;
  logo_uri: string | null;
  [member: string]: unknown;
}

/** Commands and an app for a suite. */
function useApp(database: TestDatabase) {
  const { app, cli } = useCommands(database);
  let id: string;
  beforeEach(async () => {
    ({ clientId: id } = await app().addClient());
  });
  return {
    app,
    cli,
    id: () => id,
    update: (...args: string[]) => cli.json<AppJson>('app', 'update', id, ...args),
    /** The details of the updates of the app in the audit log. */
    details: async (): Promise<unknown[]> => {
      const trail = await auditTrail(app().dataSource, id);
      return trail.filter(({ action }) => action === 'app.updated').map((event) => event.details);
    },
  };
}

onOneEngine('Identity of an app: publisher, links and verification', (database) => {
  const { app, cli, id, update, details } = useApp(database);
  const folder = mkdtempSync(join(tmpdir(), 'platform-logos-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('O168 registers an app with all values, and shows and records them', async () => {
    const logo = join(folder, 'logo');
    writeFileSync(logo, PNG);
    const created = await cli.json<AppJson>(
      ...['app', 'create', '--name', 'Garden Tools', '--scope', 'posts.read'],
      ...['--redirect-uri', 'https://garden.example/callback', '--publisher', ' Garden Ltd '],
      ...['--homepage', HOMEPAGE, '--privacy-url', PRIVACY, '--terms-url', TERMS],
      ...['--logo', logo, '--verified'],
    );
    const hash = sha256(PNG);
    expect(created).toMatchObject({
      publisher: 'Garden Ltd',
      verified: true,
      client_uri: HOMEPAGE,
      logo_uri: expect.stringMatching(
        new RegExp(`^http://localhost:\\d+/assets/app-logos/svc_app_\\w+/${hash}$`),
      ),
      policy_uri: PRIVACY,
      tos_uri: TERMS,
    });
    const { stdout } = await cli.run('app', 'show', created.client_id);
    for (const line of [
      /^publisher +Garden Ltd$/m,
      /^verified +true$/m,
      /^client_uri +https:\/\/garden\.example\/$/m,
      /^logo_uri +http:\S+$/m,
      /^policy_uri +https:\/\/garden\.example\/privacy\?lang=en#top$/m,
      /^tos_uri +http:\/\/garden\.example\/t%C3%A9rminos\/jardín$/m,
    ])
      expect(stdout).toMatch(line);
    const trail = await auditTrail(app().dataSource, created.client_id);
    expect(trail.find(({ action }) => action === 'app.created')?.details).toMatchObject({
      publisher: 'Garden Ltd',
      homepageUrl: HOMEPAGE,
      privacyUrl: PRIVACY,
      termsUrl: TERMS,
      isVerified: true,
      logoHash: hash,
    });
  });

  it('O168 shows only the values that are set, and always whether the app is verified', async () => {
    expect(await cli.json('app', 'show', id())).toMatchObject(NO_IDENTITY);
    const { stdout } = await cli.run('app', 'show', id());
    expect(stdout).toMatch(/^verified +false$/m);
    expect(stdout).not.toMatch(/^(publisher|\w+_uri) /m);
    const trail = await auditTrail(app().dataSource, id());
    expect(trail.find(({ action }) => action === 'app.created')?.details).not.toHaveProperty(
      'isVerified',
    );
  });

  it.each([
    [['--publisher', 'Garden Ltd'], '--no-publisher', 'publisher', 'Garden Ltd', 'publisher'],
    [['--homepage', HOMEPAGE], '--no-homepage', 'client_uri', HOMEPAGE, 'homepageUrl'],
    [['--privacy-url', PRIVACY], '--no-privacy-url', 'policy_uri', PRIVACY, 'privacyUrl'],
    [['--terms-url', TERMS], '--no-terms-url', 'tos_uri', TERMS, 'termsUrl'],
  ])('sets %j and removes it with %s', async (set, remove, member, value, detail) => {
    expect(await update(...set)).toMatchObject({ ...NO_IDENTITY, [member]: value });
    expect((await cli.run('app', 'update', id(), ...set)).stderr).toBe('No change.\n');
    expect(await update(remove)).toMatchObject(NO_IDENTITY);
    expect(await details()).toEqual([
      { [detail]: { from: null, to: value } },
      { [detail]: { from: value, to: null } },
    ]);
  });

  it('O168 ends the verification with another publisher, and says so', async () => {
    await update('--verified', '--publisher', 'Garden Ltd');
    const { stdout, stderr } = await cli.run('app', 'update', id(), '--publisher', 'Shed Ltd');
    expect(stdout).toMatch(/^publisher +Shed Ltd\nverified +false$/m);
    expect(stderr).toBe(
      `The app is no longer verified, because its publisher changed. Check it and run: app update ${id()} --verified\n`,
    );
    expect((await details()).at(-1)).toEqual({
      publisher: { from: 'Garden Ltd', to: 'Shed Ltd' },
      isVerified: { from: true, to: false },
    });
    expect(await update('--verified')).toMatchObject({ publisher: 'Shed Ltd', verified: true });
    expect(await update('--no-verified')).toMatchObject({ verified: false });
    expect((await details()).at(-1)).toEqual({ isVerified: { from: true, to: false } });
  });

  it('O168 ends the verification without a publisher, and says so', async () => {
    await update('--verified', '--publisher', 'Garden Ltd');
    const { stdout, stderr } = await cli.run('app', 'update', id(), '--no-publisher');
    expect(stdout).toMatch(/^verified +false$/m);
    expect(stderr).toBe('The app is no longer verified, because it has no publisher.\n');
  });

  it.each([
    ['a publisher of 61 characters', ['--publisher', 'x'.repeat(61)], 2, '1 to 60 characters'],
    ['the verification of no publisher', ['--verified'], 1, 'needs a publisher. Add --publisher.'],
    ['an invisible publisher', ['--publisher', 'Gar\u200bden'], 1, 'The publisher contains U+200B'],
    ['a script', ['--homepage', 'javascript:alert(1)'], 1, 'The URL of the homepage, "javascript:'],
    ['an empty URL', ['--homepage', ''], 1, 'The URL of the homepage, "",'],
    ['a URL without a host', ['--privacy-url', 'https:///x'], 1, 'The URL of the privacy policy'],
    ['a user name', ['--terms-url', 'https://me@garden.example'], 1, 'The URL of the terms'],
    [
      'a URL of 2,049 characters',
      ['--homepage', `${HOMEPAGE}${'x'.repeat(2049 - HOMEPAGE.length)}`],
      1,
      'at most 2048 characters',
    ],
  ])('rejects %s and changes nothing', async (_title, args, code, message) => {
    const before = await cli.json('app', 'show', id());
    const outcome = await cli.run('app', 'update', id(), ...args);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain(message);
    expect(await cli.json('app', 'show', id())).toEqual(before);
  });

  it('keeps a longer name of version 1.0 when another value changes', async () => {
    const name = 'x'.repeat(200);
    await app().dataSource.manager.update(App, { clientId: id() }, { name });
    expect(await update('--publisher', 'Garden Ltd')).toMatchObject({ name });
  });

  it('lists its options if none is given', async () => {
    const { code, stderr } = await cli.run('app', 'update', id());
    expect(code).toBe(2);
    expect(stderr).toContain(
      'error: give at least one of --name, --redirect-uri, --[no-]origin, --scope, --[no-]require-pkce, --[no-]reference, --[no-]publisher, --[no-]homepage, --[no-]privacy-url, --[no-]terms-url, --[no-]logo, --[no-]verified',
    );
  });

  it('O168 is in the list of connected apps', async () => {
    const user = await app().addUser();
    const client = await app().addClient({ publisher: 'Garden Ltd', isVerified: true, logo: PNG });
    await app().issueTokens(user, client);
    await app().issueTokens(user, client, ['posts.read']);
    expect(await app().service(GrantsService).activeApps(user.id)).toMatchObject([
      { name: client.name, publisher: 'Garden Ltd', isVerified: true, logoHash: sha256(PNG) },
    ]);
  });
});

onEachEngine('Audit event of an update', (database) => {
  const { cli, id, details } = useApp(database);

  /** The changes with the most bytes, except for longer redirect URIs. JSON escapes quotes. */
  function longValues(letter: string) {
    const start = `https://${letter}.example/${'🌻'.repeat(1000)}`;
    const url = start + '"'.repeat(2048 - [...start].length);
    const uri = `https://${letter}.example/`;
    const redirectUris = Array.from(
      { length: 10 },
      (_, index) => uri + String(index).repeat(500 - uri.length),
    );
    const publisher = letter + '🌻'.repeat(59);
    return { publisher, homepageUrl: url, privacyUrl: url, termsUrl: url, redirectUris };
  }

  async function setLongValues(letter: string): Promise<void> {
    const values = longValues(letter);
    const { stderr, code } = await cli.run(
      ...['app', 'update', id(), '--yes', '--publisher', values.publisher],
      ...['--homepage', values.homepageUrl, '--privacy-url', values.privacyUrl],
      ...['--terms-url', values.termsUrl],
      ...values.redirectUris.flatMap((uri) => ['--redirect-uri', uri]),
    );
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  }

  it('O145 stores the old and new values of the longest URLs and ten redirect URIs', async () => {
    await setLongValues('a');
    await setLongValues('b');
    const [from, to] = [longValues('a'), longValues('b')];
    expect((await details()).at(-1)).toEqual({
      publisher: { from: from.publisher, to: to.publisher },
      homepageUrl: { from: from.homepageUrl, to: to.homepageUrl },
      privacyUrl: { from: from.privacyUrl, to: to.privacyUrl },
      termsUrl: { from: from.termsUrl, to: to.termsUrl },
      redirectUris: { from: from.redirectUris, to: to.redirectUris },
    });
  });
});
