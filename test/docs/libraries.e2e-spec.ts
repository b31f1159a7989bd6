import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const PAGE = 'docs/guide/libraries.md';
const RECIPES = 'examples/libraries';
const RECIPE = /\.(?:[cm]?js|py|rb|ru|php|go|kt|pl|R|conf)$/;
const MAX_LINES = 20;

const read = (file: string): string => readFileSync(file, 'utf8');
const page = read(PAGE);
const files = readdirSync(RECIPES).filter((name) => RECIPE.test(name));

/** Replaces each code block that is named after a file by that file. */
function withRecipes(text: string): string {
  return text.replaceAll(
    /^(```\w+ ([\w.-]+)\n)[^]*?^```$/gm,
    (_block, head: string, file: string) => `${head}${read(`${RECIPES}/${file}`)}\`\`\``,
  );
}

/** Lines of code that are not imports. */
function linesOfCode(file: string): number {
  const code = read(`${RECIPES}/${file}`)
    .replaceAll(/^import \([^]*?^\)$/gm, '')
    .replaceAll(/^(?:import|from|require|package|use) .*$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

describe('The page of libraries', () => {
  it('shows the recipes that the tests run (update with WRITE_PAGES=1)', () => {
    if (process.env.WRITE_PAGES === '1') writeFileSync(PAGE, withRecipes(page));
    expect(read(PAGE)).toBe(withRecipes(page));
    const shown = [...page.matchAll(/^```\w+ ([\w.-]+)$/gm)].map(([, file]) => file);
    expect(shown.toSorted()).toEqual(files);
  });

  it('has only short recipes', () => {
    const recipes = files.filter((file) => !file.startsWith('helpers.'));
    expect(recipes.filter((file) => linesOfCode(file) > MAX_LINES)).toEqual([]);
  });

  it('names the installed version of each npm package', () => {
    const { dependencies } = JSON.parse(read(`${RECIPES}/package.json`)) as {
      dependencies: Record<string, string>;
    };
    const rows = [...page.matchAll(/^\| \[`([^`]+)`\]\(#[^)]*\)[^|]*\| ([\d.]+) /gm)];
    const npm = rows.filter(([, name = '']) => name in dependencies);
    expect(npm.length).toBeGreaterThanOrEqual(10);
    for (const [, name = '', version] of npm)
      expect([name, version]).toEqual([name, dependencies[name]]);
  });
});
