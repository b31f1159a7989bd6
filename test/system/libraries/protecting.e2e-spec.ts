import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onOneEngine } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { useFolder } from '../../support/folder.js';
import { findProgram } from '../../support/programs.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import {
  APACHE_MODULES,
  apacheConfiguration,
  nginxConfiguration,
} from '../../support/web-servers.js';
import { FOLDER, RecipeProcess } from './recipe-process.js';

/** The configuration of a server around a recipe. */
type Configuration = (folder: string, port: number, recipe: string) => string;

const nginx: Configuration = (folder, port, recipe) =>
  nginxConfiguration(
    folder,
    `server { listen 127.0.0.1:${port}; root ${folder}; include ${recipe}; }`,
  );

const apache: Configuration = (folder, port, recipe) =>
  apacheConfiguration(folder, port, 'oauth2', `Include ${recipe}`);

const dovecotConfiguration = (folder: string, recipe: string): string => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/error.log
auth_verbose = yes
protocols =
ssl = no
passdb {
  driver = oauth2
  mechanisms = plain xoauth2 oauthbearer
  args = ${recipe}
}
userdb {
  driver = static
  args = uid=65534 gid=65534 home=/nonexistent
}
`;

onOneEngine('Servers that accept our access tokens', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();
  let client: TestClient;
  let userId: string;
  let tokens: { accessToken: string; refreshToken: string; revoked: string; withoutScope: string };

  beforeEach(async () => {
    client = await app().addClient();
    const user = await app().addUser();
    userId = user.id;
    const revoked = await app().accessToken(user, client);
    const withoutScope = await app().accessToken(user, client, ['posts.write']);
    tokens = {
      ...(await app().issueTokens(user, client, ['profile.read'])),
      revoked,
      withoutScope,
    };
    const form = { token: revoked, client_id: client.clientId, client_secret: client.secret ?? '' };
    await app().fetch('/oauth/revoke', { method: 'POST', body: new URLSearchParams(form) });
  });

  /** Writes a recipe with the values of its variables. Returns the path. */
  async function fill(name: string): Promise<string> {
    const text = await readFile(resolve(FOLDER, name), 'utf8');
    const file = join(folder, name);
    await writeFile(
      file,
      text
        .replaceAll('${ISSUER}', app().baseUrl)
        .replaceAll('${CLIENT_ID}', client.clientId)
        .replaceAll('${CLIENT_SECRET}', client.secret ?? ''),
    );
    return file;
  }

  /** Starts a web server with a recipe. Returns the status of a protected page with each token, in the order of `sent`. */
  async function statuses(
    recipe: string,
    configuration: Configuration,
    command: (file: string) => string[],
    sent: readonly string[],
  ): Promise<number[]> {
    const port = await freePort();
    const file = join(folder, 'server.conf');
    await writeFile(file, configuration(folder, port, await fill(recipe)));
    await writeFile(join(folder, 'protected'), 'protected content');
    const server = RecipeProcess.start(command(file), {});
    const url = `http://127.0.0.1:${port}/protected`;
    try {
      await server.listening(url);
      const results: number[] = [];
      for (const token of sent) {
        const headers = { authorization: `Bearer ${token}`, 'if-none-match': '*' };
        results.push((await fetch(url, { headers })).status);
      }
      return results;
    } finally {
      await server.stop();
    }
  }

  it('nginx asks GET /dev/v1/me', async ({ skip }) => {
    const program = (await findProgram('nginx')) ?? skip('The recipe needs nginx.');
    const { accessToken, refreshToken, revoked, withoutScope } = tokens;
    expect(
      await statuses(
        'nginx-auth-request.conf',
        nginx,
        (file) => [program, '-p', folder, '-c', file],
        [accessToken, refreshToken, revoked, withoutScope, ''],
      ),
    ).toEqual([304, 401, 401, 403, 401]);
  });

  it('mod_oauth2 asks the introspection endpoint', async ({ skip }) => {
    const httpd = existsSync(`${APACHE_MODULES}/mod_oauth2.so`)
      ? await findProgram('apache2')
      : undefined;
    const program = httpd ?? skip('The recipe needs apache2 and libapache2-mod-oauth2.');
    const { accessToken, refreshToken, revoked } = tokens;
    expect(
      await statuses(
        'apache-mod-oauth2.conf',
        apache,
        (file) => [program, '-d', folder, '-f', file, '-X'],
        [accessToken, refreshToken, revoked, ''],
      ),
    ).toEqual([304, 401, 401, 401]);
  });

  it('Dovecot asks the introspection endpoint', async ({ skip }) => {
    const [dovecot, doveadm] = [await findProgram('dovecot'), await findProgram('doveadm')];
    if (!dovecot || !doveadm || process.getuid?.() !== 0)
      return skip('The recipe needs dovecot-core, and root.');
    const file = join(folder, 'server.conf');
    await chmod(folder, 0o755);
    await writeFile(file, dovecotConfiguration(folder, await fill('dovecot-oauth2.conf')));
    const server = RecipeProcess.start([dovecot, '-F', '-c', file], {});
    /** Whether Dovecot lets this user in with the token as password. */
    const isAccepted = (user: string, token: string): Promise<boolean> =>
      promisify(execFile)(doveadm, ['-c', file, 'auth', 'test', user, token]).then(
        () => true,
        ({ code }: { code: number }) => {
          // EX_NOPERM: a refusal. Others are failures.
          if (code !== 77) throw new Error(`doveadm exited with ${code}.`);
          return false;
        },
      );
    try {
      await expect
        .poll(() => existsSync(`${folder}/run/auth-client`), { timeout: 10_000 })
        .toBe(true);
      const { accessToken, revoked } = tokens;
      expect(await isAccepted(userId, accessToken)).toBe(true);
      expect(await isAccepted('another', accessToken)).toBe(false);
      expect(await isAccepted(userId, revoked)).toBe(false);
    } finally {
      await server.stop();
    }
  });
});
