import { runSteps } from '../../tools/steps.js';

const exit = (code: number): string => `node -e "process.exit(${code})"`;
const echo = (text: string): string => `node -e "console.log('${text}')"`;

/** Runs the steps. Returns whether all passed, and the printed text without durations. */
async function run(
  lists: Parameters<typeof runSteps>[0],
  { isFixing = false } = {},
): Promise<[boolean, string]> {
  let text = '';
  const hasPassed = await runSteps(lists, { isFixing, print: (part) => (text += part) });
  return [hasPassed, text.replaceAll(/ \(\d+ s\)$/gm, '')];
}

describe('npm run check', () => {
  it('runs every step, prints in order, and lists the failures', async () => {
    const slow = `node -e "setTimeout(() => console.log('compiled'), 300)"`;
    const lists = [
      [
        { name: 'build', check: slow },
        { name: 'lint', check: exit(3) },
        { name: 'pages', needs: 'build', check: echo('current') },
      ],
      [
        { name: 'packages', check: exit(1) },
        { name: 'types', needs: 'packages', check: echo('never') },
        { name: 'format', check: echo('formatted') },
      ],
    ];
    expect(await run(lists)).toEqual([
      false,
      `\
== build: passed
compiled
== lint: exit code 3
== pages: passed
current
== packages: exit code 1
== types: not run, because packages failed
== format: passed
formatted

3 of 6 steps failed:
- lint: exit code 3
- packages: exit code 1
- types: not run, because packages failed
`,
    ]);
  });

  it('corrects with --fix where a step can, one step after another', async () => {
    const lists = [
      [{ name: 'format', check: exit(1), fix: echo('written') }],
      [{ name: 'imports', check: echo('checked') }],
    ];
    expect(await run(lists, { isFixing: true })).toEqual([
      true,
      '== format: passed\nwritten\n== imports: passed\nchecked\n',
    ]);
  });
});
