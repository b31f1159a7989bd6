import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { approve, CHALLENGE, VERIFIER } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

const RECIPES = 'test/system/clients/recipes';
const page = readFileSync('docs/integrate.md', 'utf8');

/** The blocks of code of the page whose first line is this one, in their order. */
function blocks(opening: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${opening}\n(.*?)^\`\`\`$`, 'gms'));
  return [...found].map(([, block = '']) => block);
}

/** What a recipe's file marks for the page: everything between the two comments. */
function recipe(name: string): string | undefined {
  const file = readFileSync(`${RECIPES}/${name}.ts`, 'utf8');
  return /^\/\/ recipe:begin\n(.*)^\/\/ recipe:end$/ms.exec(file)?.[1];
}

describe('The recipes of docs/integrate.md', () => {
  const names = readdirSync(RECIPES).map((file) => basename(file, '.ts'));

  it.each(names)('%s is the code that its test runs', (name) => {
    expect(blocks(`ts recipe ${name}`)).toEqual([recipe(name)]);
  });

  it('are all of them', () => {
    const shown = [...page.matchAll(/^```ts recipe ([\w-]+)$/gm)].map(([, name]) => name);
    expect(shown.toSorted()).toEqual(names.toSorted());
  });

  it.each(names.filter((name) => name !== 'settings'))('%s has a test that imports it', (name) => {
    const specs = readdirSync('test/system/clients').filter((file) =>
      file.endsWith('.e2e-spec.ts'),
    );
    const texts = specs.map((file) => readFileSync(`test/system/clients/${file}`, 'utf8'));
    expect(texts.filter((text) => text.includes(`'./recipes/${name}.js'`))).toHaveLength(1);
  });
});

onOneEngine('The commands of docs/integrate.md', (database) => {
  const app = useTestApp(database);

  it('exchange, call, refresh and revoke when they are pasted in order', async () => {
    const client = await app().addClient();
    const user = await app().addUser({ name: 'Ana Lee' });
    const told = await approve(app(), user, client, {
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
        CODE: told.get('code') ?? '',
        VERIFIER,
      },
    });
    const answers = stdout.split('# next\n').map((answer) => JSON.parse(answer) as object);
    expect(answers).toEqual([
      expect.objectContaining({ access_token: expect.any(String), scope: client.scopes.join(' ') }),
      expect.objectContaining({ name: 'Ana Lee' }),
      expect.objectContaining({ refresh_token: expect.any(String) }),
      {},
    ]);
    const [{ access_token: first }, , { access_token: second }] = answers as [
      { access_token: string },
      object,
      { access_token: string },
    ];
    for (const token of [first, second])
      expect((await app().call(token, 'GET', '/me')).status).toBe(401);
  });
});
