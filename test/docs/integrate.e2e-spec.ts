import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { approve, CHALLENGE, VERIFIER } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

const RECIPES = 'test/system/clients/recipes';
const page = readFileSync('docs/integrate.md', 'utf8');

/** The code blocks with this info string, in the order of the page. */
function blocks(infoString: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${infoString}\n(.*?)^\`\`\`$`, 'gms'));
  return [...found].map(([, block = '']) => block);
}

/** The code between the two marker comments of a recipe. */
function recipe(name: string): string | undefined {
  const file = readFileSync(`${RECIPES}/${name}.ts`, 'utf8');
  return /^\/\/ recipe:begin\n(.*)^\/\/ recipe:end$/ms.exec(file)?.[1];
}

describe('Recipes of docs/integrate.md', () => {
  const names = readdirSync(RECIPES).map((file) => basename(file, '.ts'));

  it.each(names)('%s equals the code that its test runs', (name) => {
    expect(blocks(`ts recipe ${name}`)).toEqual([recipe(name)]);
  });

  it('include every recipe file', () => {
    const shown = [...page.matchAll(/^```ts recipe ([\w-]+)$/gm)].map(([, name]) => name);
    expect(shown.toSorted()).toEqual(names.toSorted());
  });

  // `settings` has only types for the other recipes.
  it.each(names.filter((name) => name !== 'settings'))('%s has a test that imports it', (name) => {
    const specs = readdirSync('test/system/clients').filter((file) =>
      file.endsWith('.e2e-spec.ts'),
    );
    const texts = specs.map((file) => readFileSync(`test/system/clients/${file}`, 'utf8'));
    expect(texts.filter((text) => text.includes(`'./recipes/${name}.js'`))).toHaveLength(1);
  });
});

onOneEngine('Commands of docs/integrate.md', (database) => {
  const app = useTestApp(database);

  it('exchange a code, call the API, refresh and revoke when they run in order', async () => {
    const client = await app().addClient();
    const user = await app().addUser({ name: 'Ana Lee' });
    const redirect = await approve(app(), user, client, {
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    const commands = blocks('sh flow');
    expect(commands).toHaveLength(4);
    const script = commands.join('\necho "# next"\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', `set -euo pipefail\n${script}`], {
      env: {
        PATH: process.env.PATH,
        ISSUER: app().baseUrl,
        CLIENT_ID: client.clientId,
        CLIENT_SECRET: client.secret,
        REDIRECT_URI: client.redirectUris[0],
        CODE: redirect.get('code') ?? '',
        VERIFIER,
      },
    });
    const responses = stdout.split('# next\n').map((body) => JSON.parse(body) as object);
    expect(responses).toEqual([
      expect.objectContaining({ access_token: expect.any(String), scope: client.scopes.join(' ') }),
      expect.objectContaining({ name: 'Ana Lee' }),
      expect.objectContaining({ refresh_token: expect.any(String) }),
      {},
    ]);
    const [{ access_token: first }, , { access_token: second }] = responses as [
      { access_token: string },
      object,
      { access_token: string },
    ];
    for (const token of [first, second])
      expect((await app().call(token, 'GET', '/me')).status).toBe(401);
  });
});
