import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const RECIPES = 'test/system/clients/recipes';
const page = readFileSync('docs/guide/recipes.md', 'utf8');

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

describe('Recipes of docs/guide/recipes.md', () => {
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
