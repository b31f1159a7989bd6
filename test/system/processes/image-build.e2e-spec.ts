import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '../../../src/platform/version.js';
import { dockerfile } from '../../support/deploy-files.js';
import { IS_QUICK } from '../../suite.js';

const run = promisify(execFile);
const BUILD_TIMEOUT_MS = 600_000;
const IMAGE = 'localhost/developer-platform-test';

const [base = ''] = dockerfile().findLast(({ name }) => name === 'FROM')?.words ?? [];
/** The base image must be on this machine: tests download none. */
const hasBase =
  spawnSync('buildah', ['inspect', '--type', 'image', `docker.io/library/${base}`]).status === 0;
const title = hasBase ? 'The image' : `The image (skipped: needs buildah and the image ${base})`;

describe.skipIf(!hasBase || IS_QUICK)(title, () => {
  afterAll(async () => {
    await run('buildah', ['rmi', '--force', IMAGE]);
  });

  it(
    'is built by the Dockerfile, and its programs run as user 1000 with all their files',
    async () => {
      // Where npm finds its registry.
      const npmrc = join(homedir(), '.npmrc');
      const volumes = existsSync(npmrc) ? ['--volume', `${npmrc}:/root/.npmrc:ro`] : [];
      const options = ['--pull-never', '--isolation', 'chroot', ...volumes, '--tag', IMAGE];
      await run('buildah', ['build', ...options, '.'], { maxBuffer: Infinity });
      const container = (await run('buildah', ['from', '--pull-never', IMAGE])).stdout.trim();
      try {
        const inside = (script: string) =>
          run('buildah', ['run', '--isolation', 'chroot', container, '--', 'sh', '-c', script]);
        expect((await inside('id -u; devplatform --version')).stdout).toBe(`1000\n${VERSION}\n`);
        const { stdout } = await inside(
          'export NODE_ENV=development DEMO=0 DATABASE_URL=sqlite:/app/data/test.sqlite; devplatform db migrate > /dev/null && devplatform db check',
        );
        expect(stdout).toBe('The schema matches this version.\n');
        // The programs cannot be replaced, and npm is gone.
        const { stdout: writable } = await inside('find /app -writable -not -path "/app/data*"');
        expect(writable).toBe('');
        expect((await inside('command -v npm || echo none')).stdout).toBe('none\n');
      } finally {
        await run('buildah', ['rm', container]);
      }
    },
    BUILD_TIMEOUT_MS,
  );
});
