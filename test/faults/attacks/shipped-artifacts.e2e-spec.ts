import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { LICENCES_PAGE, shippedPackages } from '../../support/shipped-packages.js';
import { reportFigure, REGISTRY_UNAVAILABLE } from '../figures.js';
import { registerApp, importUsers, USERS_PER_FILE, publishFor } from './operator-commands.js';
import { filesBelow, startUnprivileged } from './unprivileged-service.js';

const AUDIT_TIMEOUT_MS = 25_000;
const MAX_OUTPUT_BYTES = 20_000_000;
/** The error of `npm` when the registry does not respond. */
const NETWORK_ERROR = /^request to \S+ failed/;
/** The registry rejected the request of `npm`. Any other error status means that the registry is unavailable. */
const BAD_REQUEST = 400;
const UNPRIVILEGED_TIMEOUT_MS = 90_000;

/** Licences that allow use, change and distribution, and require only the licence text. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** The first version of DOMPurify with the fix of GHSA-cg2g-xh64-v4q7. */
const FIXED_PURIFIER = '3.4.17';

interface Audit {
  metadata: { dependencies: { prod: number } };
  vulnerabilities: Record<string, { severity: string }>;
}

/** The error output of `npm`. */
interface Failure {
  /** Set for a network error. */
  message?: string;
  /** The status of the registry's response, if it responded. */
  statusCode?: number;
}

/**
 * Known vulnerabilities of the shipped packages; undefined when the registry does not respond.
 * @throws for any other error, with the output of `npm`
 */
async function audit(): Promise<Audit | undefined> {
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--offline=false'];
  const output = await new Promise<{ text: string; isTimedOut: boolean }>((resolve) =>
    execFile(
      'npm',
      args,
      { timeout: AUDIT_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES },
      (error, stdout, stderr) =>
        resolve({ text: stdout || stderr, isTimedOut: error?.killed === true }),
    ),
  );
  if (output.isTimedOut) return undefined;
  const report = JSON.parse(output.text) as Audit | Failure;
  if ('metadata' in report) return report;
  const { message = '', statusCode } = report;
  const isUnavailable =
    statusCode === undefined ? NETWORK_ERROR.test(message) : statusCode !== BAD_REQUEST;
  if (isUnavailable) return undefined;
  throw new Error(`npm ${args.join(' ')} output: ${output.text}`);
}

/** Of `(A OR B)` one must be permissive, of `(A AND B)` both (SPDX, annex D). */
function isPermissive(licence: string): boolean {
  const names = (text: string): string[] => text.replaceAll(/[()]/g, '').trim().split(' OR ');
  return licence.split(' AND ').every((part) => names(part).some((name) => PERMISSIVE.has(name)));
}

/** The service in compose.yaml that runs the image. */
async function composeService(): Promise<Record<string, unknown>> {
  const { services } = parse(await readFile('compose.yaml', 'utf8')) as {
    services: Record<string, Record<string, unknown>>;
  };
  const [service, ...more] = Object.values(services).filter((each) => 'build' in each);
  if (service === undefined || more.length > 0)
    throw new Error('compose.yaml must have exactly one service with a build.');
  return service;
}

/** The instructions of the last stage of the Dockerfile. */
async function finalStage(): Promise<string[]> {
  const text = (await readFile('Dockerfile', 'utf8')).replaceAll('\\\n', ' ');
  const lines = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
  return lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
}

describe('Shipped packages', () => {
  it('have no known vulnerability', { timeout: 2 * AUDIT_TIMEOUT_MS }, async ({ skip, task }) => {
    const report = await audit();
    if (report === undefined) return skip(REGISTRY_UNAVAILABLE);
    const { prod } = report.metadata.dependencies;
    expect(prod).toBeGreaterThan(50);
    const known = Object.entries(report.vulnerabilities).map(
      ([name, { severity }]) => `${severity}: ${name}`,
    );
    expect(known).toEqual([]);
    reportFigure(task, `npm audit: ${prod} packages, 0 vulnerabilities`);
  });

  it('include a DOMPurify with the fix of GHSA-cg2g-xh64-v4q7, in the bundle of Swagger UI, which npm does not audit', async () => {
    const bundle = await readFile('node_modules/swagger-ui-dist/swagger-ui-bundle.js', 'utf8');
    const [, bundled = ''] = /DOMPurify\.version="([\d.]+)"/.exec(bundle) ?? [];
    expect(bundled.localeCompare(FIXED_PURIFIER, 'en', { numeric: true })).toBeGreaterThanOrEqual(
      0,
    );
  });

  it('have permissive licences only', async ({ task }) => {
    const packages = await shippedPackages();
    expect(packages.length).toBeGreaterThan(50);
    const others = packages.filter(({ licence }) => !isPermissive(licence));
    expect(others).toEqual([]);
    const counts = new Map<string, number>();
    for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
    const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
    reportFigure(
      task,
      `${packages.length} packages, listed in ${LICENCES_PAGE}: ${sorted.map(([name, count]) => `${count} ${name}`).join(', ')}`,
    );
  });
});

describe('Container image', () => {
  it('runs as a non-root user that can write only to its volume', async () => {
    const stage = await finalStage();
    const users = stage.filter((line) => line.startsWith('USER '));
    expect(users).toEqual([expect.stringMatching(/^USER [1-9]\d*$/)]);
    const instructions = stage.map((line) => line.split(' ')[0]);
    expect(instructions.indexOf('USER')).toBeGreaterThan(instructions.lastIndexOf('RUN'));
    expect(instructions.indexOf('USER')).toBeLessThan(instructions.indexOf('CMD'));
    expect(stage.filter((line) => line.startsWith('VOLUME '))).toEqual(['VOLUME /app/data']);
    const owners = stage.flatMap((line) => [...line.matchAll(/chown (?:-R )?(\S+) (\S+)/g)]);
    // The last owner of each path counts.
    expect(Object.fromEntries(owners.map(([, owner, path]) => [path, owner]))).toEqual({
      data: 'node:node',
      $CACHE: 'root:root',
    });
    const modes = stage.flatMap((line) => [...line.matchAll(/chmod (?:-R )?(\S+)/g)]);
    expect(modes.map(([, mode]) => mode)).toEqual(['a+rX']);
    expect(stage.filter((line) => line.startsWith('COPY ') && line.includes('--chown'))).toEqual(
      [],
    );
  });

  it('gets a read-only file system except its volume, and no extra privileges, from compose.yaml', async () => {
    const service = await composeService();
    expect(service).toMatchObject({ read_only: true, volumes: ['service-data:/app/data'] });
    for (const name of ['user', 'privileged', 'cap_add', 'tmpfs', 'security_opt', 'devices'])
      expect(service).not.toHaveProperty(name);
  });

  it('contains no secret, and only the folder that the build fills with files that run', async () => {
    const stage = await finalStage();
    const all = await readFile('Dockerfile', 'utf8');
    expect(all).not.toMatch(/^(ARG|ENV) .*(SECRET|TOKEN|PASSWORD|PEPPER|KEY|DATABASE_URL)/im);
    expect(all).not.toMatch(/^ADD |COPY (\S+ )?\.\/? |https?:\/\/[^/`$]*:[^/`$]*@/m);
    const copied = stage
      .filter((line) => line.startsWith('COPY '))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied).toEqual(['--from=build', '/image']);
    expect(all).toContain(' && node dist/tools/image-files.js /image\n');
    const [first, ...exceptions] = (await readFile('.dockerignore', 'utf8')).trim().split('\n');
    expect(first).toBe('*');
    expect(exceptions.filter((line) => /env|data|\.git|test/.test(line))).toEqual([]);
  });
});

describe('Service whose user can write only to its volume', () => {
  it(
    'starts, serves requests, imports thousands of users and stops, and writes nothing elsewhere',
    { timeout: UNPRIVILEGED_TIMEOUT_MS },
    async ({ task, skip }) => {
      const service = await startUnprivileged();
      try {
        const isRoot = process.getuid?.() === 0;
        if (isRoot) expect(service.uid).toBe(65_534);
        if (isRoot && process.platform === 'linux') expect(service.isContained).toBe(true);
        for (const path of ['/', '/docs', '/openapi.json', '/account/apps', '/assets/style.css'])
          expect((await fetch(`${service.baseUrl}${path}`)).status).toBe(200);
        expect((await fetch(`${service.baseUrl}/dev/v1/me`)).status).toBe(401);
        const app = await registerApp(service);
        // The phones are unordered, so the second import changes more pages than the page cache of SQLite holds. SQLite then spills
        // pages to files before the commit.
        const [phone] = await importUsers(service, 0);
        await importUsers(service, 1);
        await publishFor(service, app, phone);
        const written = await filesBelow(service.folder);
        expect(
          written.filter((name) => !/^(service\.sqlite(-\w+)?|sms\.jsonl)$/.test(name)),
        ).toEqual([]);
        expect(await service.stop()).toBe(0);
        expect((await filesBelow(service.folder)).toSorted()).toEqual([
          'service.sqlite',
          'sms.jsonl',
        ]);
        const logLines = service.output().trimEnd().split('\n');
        expect(
          logLines.filter((line) => /"level":"(warn|error|fatal)"|EACCES|EROFS/.test(line)),
        ).toEqual([]);
        if (!service.isContained)
          return skip('only root on Linux can make the file system read-only for one process');
        reportFigure(
          task,
          `the service ran as user ${service.uid} on a read-only file system, wrote to its volume only, and imported ${(2 * USERS_PER_FILE).toLocaleString('en')} users from two files`,
        );
      } finally {
        await service.remove();
      }
    },
  );
});
