import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { BREAKS } from './breaks-list.js';

/** @typedef {import('./breaks-list.js').Break} Break */

const run = promisify(execFile);

/** Test runs that take longer are ended. A break that makes the tests wait is not one that they find. */
const TIMEOUT_MS = 900_000;
const LINKED = ['node_modules', 'test/system/node_modules', 'bench/node_modules'];
/** As in `test/support/global-setup.ts`. */
const BUILD_MARKER = 'dist/.built';

const program = new Command('npm run breaks --')
  .description(
    'Proves that the tests find mistakes. Applies each break of tools/breaks-list.js to a copy of the tracked files, one at a time, ' +
      'and runs the test file that must fail. Exits with 1 if a test file passes, or cannot prove anything: if it fails without the ' +
      'break, or if the text to replace is missing.',
  )
  .argument('[names...]', 'only these breaks')
  .option('--list', 'print the names and the broken rules')
  .option('--check', 'check that the list matches the sources, without running tests')
  .action(main);

/** @param {string[]} names */
async function main(names, { list = false, check = false }) {
  const unknown = names.filter((name) => !BREAKS.some((each) => each.name === name));
  if (unknown.length > 0)
    program.error(`There is no break "${unknown.join('", "')}". --list prints the names.`);
  const selected = BREAKS.filter(({ name }) => names.length === 0 || names.includes(name));
  if (list) return print(selected.map(({ name, rule }) => `${name}: ${rule}\n`).join(''));
  /** The problem of each break, by its name. */
  const problems = new Map();
  for (const each of selected) {
    const problem = await problemOf(each);
    if (problem) problems.set(each.name, problem);
  }
  if (!check)
    await inCopy((copy) =>
      test(
        selected.filter(({ name }) => !problems.has(name)),
        { copy, problems },
      ),
    );
  for (const [name, problem] of problems) print(`${name}: ${problem}\n`);
  const found = selected.length - problems.size;
  print(`${found} of ${selected.length} breaks ${check ? 'match the sources' : 'were found'}.\n`);
  if (problems.size > 0) process.exitCode = 1;
}

/** Why a break cannot be applied; undefined if it can. @param {Break} broken */
async function problemOf({ name, file, find, replace, spec, suite }) {
  if (BREAKS.filter((each) => each.name === name).length > 1) return 'two breaks have this name';
  if (!existsSync(file)) return `${file} does not exist`;
  if (!existsSync(spec)) return `${spec} does not exist`;
  const folder = /^test\/(system|faults)\//.exec(spec)?.[1];
  if (suite !== folder) return `${spec} is a test of ${folder ?? 'npm test'}`;
  const source = await readFile(file, 'utf8');
  const { length } = [...source.matchAll(patternOf(find))];
  if (length !== 1) return `${file} has the text ${length} times instead of once: ${find}`;
  if (applied(source, { find, replace }) === source) return 'the replacement changes nothing';
}

/** Matches a text with any white space between its tokens, so that it survives reformatting. @param {string} text */
function patternOf(text) {
  const tokens = text.match(/\w+|[^\w\s]/g) ?? [];
  return new RegExp(
    tokens.map((token) => token.replace(/[^\w]/, String.raw`\$&`)).join(String.raw`\s*`),
    'g',
  );
}

function applied(source, { find, replace }) {
  return source.replace(patternOf(find), () => replace);
}

/** Calls `work` with a copy of the tracked files, and deletes the copy. @param {(copy: string) => Promise<void>} work */
async function inCopy(work) {
  const copy = await mkdtemp(join(tmpdir(), 'breaks-'));
  const remove = () => rmSync(copy, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const { stdout } = await run('git', ['ls-files', '-z'], { maxBuffer: Infinity });
  // The times show whether the installed packages are up to date.
  for (const file of stdout.split('\0').filter((name) => name !== '' && existsSync(name)))
    await cp(file, join(copy, file), { preserveTimestamps: true });
  for (const folder of LINKED)
    if (existsSync(folder)) await symlink(join(process.cwd(), folder), join(copy, folder));
  await work(copy);
}

/** Tests the breaks in the copy and adds the problems of those that no test finds. @param {Break[]} breaks */
async function test(breaks, { copy, problems }) {
  const usable = [];
  for (const suite of new Set(breaks.map((each) => each.suite))) {
    const ofSuite = breaks.filter((each) => each.suite === suite);
    const specs = [...new Set(ofSuite.map(({ spec }) => spec))];
    print(`Running ${specs.length} test files without a break.\n`);
    const failures = await failuresOf(copy, suite, specs);
    for (const each of ofSuite) {
      const failure = failures.get(each.spec) ?? failures.get('');
      if (failure) problems.set(each.name, `${each.spec} fails without the break: ${failure}`);
      else usable.push(each);
    }
  }
  // The tests must not build again when a source changes.
  const future = new Date('2100-01-01');
  if (usable.length > 0) await utimes(join(copy, BUILD_MARKER), future, future);
  for (const each of usable) {
    const failures = await withBreak(copy, each, () =>
      failuresOf(copy, each.suite, [each.spec]),
    ).catch((error) => new Map([['', error.message]]));
    const failure = failures.get(each.spec);
    if (failure) print(`${each.name}: found by "${failure}"\n`);
    else problems.set(each.name, failures.get('') ?? `${each.spec} does not find it`);
    if (!failure) print(`${each.name}: ${problems.get(each.name)}\n`);
  }
}

/** Runs test files. Returns the first failure of each file that failed; that of the whole run has the key ''. */
async function failuresOf(copy, suite, specs) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const bail = specs.length === 1 ? ['--bail=1'] : [];
  const parameters = ['vitest', 'run', ...specs, '--reporter=json', `--outputFile=${report}`];
  const failure = await run('npx', [...parameters, ...bail], {
    cwd: copy,
    env: { ...process.env, TEST_SUITE: suite ?? 'rules' },
    timeout: TIMEOUT_MS,
    maxBuffer: Infinity,
  }).then(
    () => undefined,
    (error) => error,
  );
  const failures = new Map();
  if (failure?.killed || !existsSync(report))
    return failures.set('', `the tests did not end: ${failure?.stderr.trim() ?? ''}`);
  const { testResults } = JSON.parse(await readFile(report, 'utf8'));
  for (const { name, status, message, assertionResults } of testResults) {
    if (status !== 'failed') continue;
    const failed = assertionResults.find((result) => result.status === 'failed');
    failures.set(relative(copy, name), failed?.fullName ?? message.split('\n', 1)[0]);
  }
  if (failure && failures.size === 0) failures.set('', 'the tests fail outside of a test');
  return failures;
}

/** Calls `work` while the break is applied to the source and to its compiled file. */
async function withBreak(copy, { file, find, replace, suite }, work) {
  const source = join(copy, file);
  const text = await readFile(source, 'utf8');
  const built = join(copy, 'dist', file.replace(/\.ts$/, '.js'));
  const builtText = await readFile(built, 'utf8');
  const broken = applied(text, { find, replace });
  await writeFile(source, broken);
  await writeFile(built, await transpiled(broken, file));
  // Only these suites start the bundled programs.
  const bundle = async () => {
    if (suite) await run('npx', ['rolldown', '--config'], { cwd: copy });
  };
  await bundle();
  try {
    return await work();
  } finally {
    await writeFile(source, text);
    await writeFile(built, builtText);
    await bundle();
  }
}

/** Compiles one file as the build does. @throws Error if the syntax is invalid, because any test would find that */
async function transpiled(text, fileName) {
  const { default: ts } = await import('typescript');
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path));
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    fileName,
    // `transpileModule` does not read the module type in package.json.
    compilerOptions: {
      ...options,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
    },
    reportDiagnostics: true,
  });
  for (const { messageText } of diagnostics)
    throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  return outputText;
}

function print(text) {
  process.stdout.write(text);
}

await program.parseAsync();
