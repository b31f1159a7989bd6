import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { show } from '../figures.js';
import { filesBelow, startUnprivileged } from './unprivileged.js';

const AUDIT_MS = 25_000;

/** Licences that let anybody use, change and pass on, and ask for no more than their own words. */
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

interface Audit {
  metadata?: { vulnerabilities: Record<string, number>; dependencies: { prod: number } };
  vulnerabilities?: Record<string, { severity: string }>;
}

interface Package {
  name: string;
  version: string;
  license?: string | { type: string };
  licenses?: { type: string }[];
}

/** What the registry knows against what is shipped; undefined when it does not answer. */
function audit(): Promise<Audit | undefined> {
  return new Promise((resolve) => {
    const words = ['audit', '--omit=dev', '--json', '--fetch-retries=0'];
    execFile('npm', words, { timeout: AUDIT_MS }, (_error, stdout) => {
      try {
        const told = JSON.parse(stdout) as Audit;
        resolve(told.metadata === undefined ? undefined : told);
      } catch {
        resolve(undefined);
      }
    });
  });
}

/** The packages that `npm ci --omit=dev` installs here. */
async function shipped(): Promise<Package[]> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  const folders = Object.entries(packages).filter(([folder, { dev }]) => folder !== '' && !dev);
  const found = await Promise.all(
    folders.map(async ([folder, { optional }]) => {
      try {
        return [JSON.parse(await readFile(`${folder}/package.json`, 'utf8')) as Package];
      } catch (error) {
        // Those for other platforms are not installed.
        if (optional) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

function licenceOf({ license, licenses }: Package): string {
  const [first] = licenses ?? [];
  return typeof license === 'string' ? license : (license?.type ?? first?.type ?? 'none');
}

/** Of `(A OR B)` one must be permissive, of `(A AND B)` both (SPDX, annex D). */
function isPermissive(licence: string): boolean {
  const names = (text: string): string[] => text.replaceAll(/[()]/g, '').trim().split(' OR ');
  return licence.split(' AND ').every((part) => names(part).some((name) => PERMISSIVE.has(name)));
}

/** The instructions of the last stage of the Dockerfile, which is what runs. */
async function finalStage(): Promise<string[]> {
  const text = (await readFile('Dockerfile', 'utf8')).replaceAll('\\\n', ' ');
  const lines = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
  return lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
}

describe('What is shipped', () => {
  it(
    'has no vulnerability that the registry knows',
    { timeout: 2 * AUDIT_MS },
    async ({ skip, task }) => {
      const told = await audit();
      if (told === undefined) return skip('the registry did not answer "npm audit"');
      expect(told.metadata?.dependencies.prod).toBeGreaterThan(50);
      const known = Object.entries(told.vulnerabilities ?? {}).map(
        ([name, { severity }]) => `${severity}: ${name}`,
      );
      expect(known).toEqual([]);
      show(task, `npm audit: ${told.metadata?.dependencies.prod} packages, 0 vulnerabilities`);
    },
  );

  it('may be used by anybody: every licence is permissive', async ({ task }) => {
    const packages = await shipped();
    expect(packages.length).toBeGreaterThan(50);
    const others = packages.filter((one) => !isPermissive(licenceOf(one)));
    expect(others.map((one) => `${one.name}@${one.version}: ${licenceOf(one)}`)).toEqual([]);
    const counts = new Map<string, number>();
    for (const licence of packages.map(licenceOf))
      counts.set(licence, (counts.get(licence) ?? 0) + 1);
    const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
    show(
      task,
      `${packages.length} packages: ${sorted.map(([name, count]) => `${count} ${name}`).join(', ')}`,
    );
  });
});

describe('The image', () => {
  it('runs as a user that is not root, and may write to its volume only', async () => {
    const stage = await finalStage();
    const users = stage.filter((line) => line.startsWith('USER '));
    expect(users).toEqual([expect.stringMatching(/^USER (?!root|0\b)\w+$/)]);
    const places = stage.map((line) => line.split(' ')[0]);
    expect(places.indexOf('USER')).toBeGreaterThan(places.lastIndexOf('RUN'));
    expect(places.indexOf('USER')).toBeLessThan(places.indexOf('CMD'));
    expect(stage.filter((line) => line.startsWith('VOLUME '))).toEqual(['VOLUME /app/data']);
    const owned = stage.flatMap((line) => [...line.matchAll(/ch(?:own|mod) (?:\S+ )?(\S+)/g)]);
    expect(owned.map(([, path]) => path)).toEqual(['data']);
    expect(stage.filter((line) => line.startsWith('COPY ') && line.includes('--chown'))).toEqual(
      [],
    );
  });

  it('holds no secret, and nothing that was not named', async () => {
    const stage = await finalStage();
    const all = await readFile('Dockerfile', 'utf8');
    expect(all).not.toMatch(/^(ARG|ENV) .*(SECRET|TOKEN|PASSWORD|PEPPER|KEY|DATABASE_URL)/im);
    expect(all).not.toMatch(/^ADD |COPY (\S+ )?\.\/? |https?:\/\/[^/`$]*:[^/`$]*@/m);
    const copied = stage
      .filter((line) => line.startsWith('COPY '))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.filter((word) => !word.startsWith('--'))).toEqual([
      '/app/node_modules',
      '/app/dist',
      'package.json',
      'LICENSE',
    ]);
    const [nothing, ...named] = (await readFile('.dockerignore', 'utf8')).trim().split('\n');
    expect(nothing).toBe('*');
    expect(named.filter((line) => /env|data|\.git|test/.test(line))).toEqual([]);
  });
});

describe('A service whose user may write to its volume only', () => {
  it('starts, serves and ends, and writes its database there and nothing elsewhere', async ({
    task,
  }) => {
    const service = await startUnprivileged();
    try {
      if (process.getuid?.() === 0) expect(service.uid).toBe(65_534);
      for (const path of ['/', '/docs', '/openapi.json', '/account/apps', '/assets/style.css'])
        expect((await fetch(`${service.baseUrl}${path}`)).status).toBe(200);
      expect((await fetch(`${service.baseUrl}/dev/v1/me`)).status).toBe(401);
      expect(
        (await filesBelow(service.folder)).every((name) => name.startsWith('service.sqlite')),
      ).toBe(true);
      expect(await service.stop()).toBe(0);
      expect(await filesBelow(service.folder)).toEqual(['service.sqlite']);
      const levels = service.output().trimEnd().split('\n');
      expect(
        levels.filter((line) => /"level":"(warn|error|fatal)"|EACCES|EROFS/.test(line)),
      ).toEqual([]);
      const place = service.isContained ? 'a read-only file system' : "others' folders";
      show(
        task,
        `the service ran as user ${service.uid} on ${place}, and wrote to its volume only`,
      );
    } finally {
      await service.remove();
    }
  });
});
