import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import { findProgram } from '../../support/programs.js';
import { useTestApp } from '../../support/test-app.js';
import { type Generator, GENERATORS } from './other-languages.js';

const PROGRAMS = new URL('programs/', import.meta.url).pathname;
/** Downloads and compilers take most of the time. */
const TIMEOUT_MS = 900_000;

onOneEngine('Code generators of other languages', (database) => {
  const app = useTestApp(database);
  const root = useFolder();

  /** A later version of the service: its responses have a member, and an error code, that the document does not list. */
  const later = createServer((request, response) => {
    const { authorization = '' } = request.headers;
    void app()
      .fetch(request.url ?? '/', { headers: { authorization } })
      .then(async (original) => {
        const body = (await original.text()).replace('"invalid_token"', '"added_later"');
        const headers = Object.fromEntries(original.headers);
        delete headers['content-length'];
        response.writeHead(original.status, headers).end(body.replace('{', '{"addedLater":[1],'));
      });
  });
  let laterUrl: string;
  beforeAll(async () => {
    const port = await freePort();
    later.listen(port, '127.0.0.1');
    laterUrl = `http://127.0.0.1:${port}`;
  });
  afterAll(() => later.close());

  /** @throws with the output of the command when it fails */
  async function run(cwd: string, command: string, env: NodeJS.ProcessEnv): Promise<string> {
    const options = { cwd, env: { ...process.env, ...env } };
    const { stdout } = await promisify(execFile)('bash', ['-c', command], options).catch(
      (error: Error & { stdout: string; stderr: string }) => {
        throw new Error(`${command} failed.\n${error.stdout}\n${error.stderr}`, { cause: error });
      },
    );
    return stdout;
  }

  /** Generates and compiles a client in a folder of its own. Returns the folder. */
  async function build({
    folder: name,
    build: commands,
    adapt = (document) => document,
  }: Generator): Promise<string> {
    const folder = join(root, name);
    await cp(join(PROGRAMS, name), folder, { recursive: true });
    const document = await (await app().fetch('/openapi.json')).text();
    await writeFile(join(folder, 'openapi.json'), adapt(document));
    const downloads = {
      GOPATH: join(root, 'go'),
      GOFLAGS: '-modcacherw',
      CARGO_HOME: join(root, 'cargo'),
      MAVEN_OPTS: `-Dmaven.repo.local=${join(root, 'maven')}`,
    };
    for (const command of commands) await run(folder, command, downloads);
    return folder;
  }

  it.for(GENERATORS)(
    'C144 the client of $name calls the service',
    { timeout: TIMEOUT_MS },
    async (generator, { skip }) => {
      for (const need of generator.needs) {
        const isThere = need.startsWith('/') ? existsSync(need) : await findProgram(need);
        if (isThere === undefined || isThere === false) skip(`The client needs ${need}.`);
      }
      const folder = await build(generator);
      const member = await Member.join(app());
      const { id: oldest } = await member.publish();
      app().clock.advance(1);
      const { id: older } = await member.publish();
      app().clock.advance(1);
      const { accessToken, refreshToken } = await app().issueTokens(member.user, member.client);
      const output = await run(folder, generator.run, {
        BASE_URL: app().baseUrl,
        LATER_URL: laterUrl,
        ACCESS_TOKEN: accessToken,
        REFRESH_TOKEN: refreshToken,
        CLIENT_ID: member.client.clientId,
        CLIENT_SECRET: member.client.secret,
      });
      const outcome = JSON.parse(output) as { created: string };
      expect(outcome).toEqual({
        user: member.user.name,
        created: expect.stringMatching(/^post_/),
        repeated: outcome.created,
        pages: [[outcome.created, older], [oldest]],
        unauthorized: 'invalid_token',
        invalidFields: ['content'],
        refreshed: member.user.name,
        later: { user: member.user.name, unauthorized: 'added_later' },
      });
    },
  );
});
