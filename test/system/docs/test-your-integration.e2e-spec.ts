import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { parse } from 'yaml';
import { finishAuthorization, startAuthorization } from '../../../clients/typescript/src/index.js';
import { CommandLine } from '../../support/command-line.js';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const run = promisify(execFile);
const STEPS_TIMEOUT_MS = 60_000;
const PUBLISH = 'POST /dev/v1/posts';

interface Job {
  env: Record<string, string>;
  /** A step that `uses` an action has no command. */
  steps: { run?: string }[];
}

/** The project of the partner needs no registry: nothing listens at this address. */
const NPM = {
  npm_config_registry: 'http://127.0.0.1:9',
  npm_config_noproxy: '127.0.0.1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};
const PROJECT = { name: 'partner', version: '1.0.0', type: 'module' };

onOneEngine('The page "Test your integration"', (database) => {
  const folder = useFolder();
  const cli = new CommandLine(database);
  let service: ServiceProcess;
  let page: string;
  let job: Job;
  /** The variables and secrets of the repository, which the workflow names. */
  let repository: Record<string, string>;
  let env: Record<string, string>;

  const block = (label: string): string =>
    new RegExp(`^\`\`\`${label}\n([^]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? '';

  beforeAll(async () => {
    service = await startProcess({ url: database.url, env: { DEMO: '0', LOG_LEVEL: 'warn' } });
    // As partners read it: with the URL of the service.
    page = await (await fetch(`${service.baseUrl}/docs/guide/test-your-integration.md`)).text();
    job = (parse(block('yaml')) as { jobs: { integration: Job } }).jobs.integration;
    const { TEST_PHONE = '', TEST_CODE = '', REDIRECT_URI = '' } = job.env;
    const app = await cli.json<Record<string, string>>(
      ...['app', 'create', '--test', '--name', 'Garden Share', '--redirect-uri', REDIRECT_URI],
      ...['--scope', 'profile.read posts.read posts.write'],
    );
    await cli.json(
      ...['user', 'add', '--test', '--name', 'Ana Lee', '--phone', TEST_PHONE],
      ...['--code', TEST_CODE],
    );
    repository = {
      TEST_CLIENT_ID: app.client_id ?? '',
      TEST_CLIENT_SECRET: app.client_secret ?? '',
    };
    const values = Object.entries(job.env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ (?:vars|secrets)\.(\w+) \}\}/g, (_, key: string) => {
        const found = repository[key];
        if (found === undefined) throw new Error(`The workflow has an unknown value ${key}.`);
        return found;
      }),
    ]);
    const path = `${dirname(process.execPath)}:${process.env.PATH}`;
    env = { PATH: path, HOME: folder, ...NPM, ...Object.fromEntries(values) };
  });
  afterAll(() => service?.stop());

  /** Method and route of the calls of the test app. */
  const calls = async (): Promise<string[]> => {
    const { TEST_CLIENT_ID = '' } = repository;
    const list = ['request', 'list', '--app', TEST_CLIENT_ID, '--since', '1h'];
    const { requests } = await cli.json<{ requests: Record<string, string>[] }>(...list);
    return requests.map(({ method, route }) => `${method} ${route}`);
  };

  it(
    'has a workflow whose steps test the integration with the programs of the page',
    { timeout: STEPS_TIMEOUT_MS },
    async () => {
      const source = `${block('ts flow')}\n${block('ts faults')}`;
      await writeFile(join(folder, 'package.json'), JSON.stringify(PROJECT));
      await writeFile(
        join(folder, 'package-lock.json'),
        JSON.stringify({ ...PROJECT, lockfileVersion: 3, packages: { '': PROJECT } }),
      );
      // Node 20 does not run TypeScript.
      const isTypeScript = Boolean(Reflect.get(process.features, 'typescript'));
      await writeFile(
        join(folder, isTypeScript ? 'integration.test.ts' : 'integration.test.js'),
        isTypeScript ? source : javaScript(source),
      );
      const commands = job.steps.flatMap((step) => step.run ?? []);
      expect(commands.length).toBeGreaterThan(2);
      let printed = '';
      for (const command of commands)
        printed += (await run('bash', ['-e', '-c', command], { cwd: folder, env })).stdout;
      expect(printed).toMatch(/pass 2\n/);
      expect(printed).toMatch(/fail 0\n/);
      // The retry of the request whose response was lost published nothing.
      await expect
        .poll(async () => (await calls()).filter((call) => call === PUBLISH).length)
        .toBe(3);
      const { posts } = await cli.json<{ posts: object[] }>('post', 'list', '--since', '1h');
      expect(posts).toHaveLength(2);
      expect(typeErrors(join(folder, 'checked.test.ts'), source)).toBe('');
    },
  );

  it('has a program in Python that signs in and allows access', async () => {
    await writeFile(join(folder, 'allow.py'), block('python flow'));
    const settings = {
      issuer: service.baseUrl,
      clientId: repository.TEST_CLIENT_ID ?? '',
      clientSecret: repository.TEST_CLIENT_SECRET,
      redirectUri: env.REDIRECT_URI ?? '',
    };
    const { url, pending } = await startAuthorization(settings, { scope: 'profile.read' });
    const program = 'import sys; from allow import allow; print(allow(sys.argv[1]))';
    const python = await run('python3', ['-c', program, url], { cwd: folder, env });
    const tokens = await finishAuthorization(settings, python.stdout.trim(), pending);
    expect(tokens.scopes).toEqual(['profile.read']);
    const wrong = { ...env, TEST_CODE: '131313' };
    await expect(
      run('python3', ['-c', program, url], { cwd: folder, env: wrong }),
    ).rejects.toMatchObject({ stderr: expect.stringContaining('HTTP Error 400') });
  });
});

function javaScript(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

/** The type errors of a program in the project of the partner, which has the package of the client. */
function typeErrors(file: string, source: string): string {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    noUnusedLocals: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, source, target) : getSourceFile(name, target);
  const program = ts.createProgram([file], options, host);
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), host);
}
