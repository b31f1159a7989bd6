import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { useFolder } from '../support/folder.js';

describe('npm run build', () => {
  const folder = useFolder();

  it('says in one sentence that the packages for the build are missing, as after npm ci with NODE_ENV=production', () => {
    copyFileSync('package.json', join(folder, 'package.json'));
    const { PATH = '' } = process.env;
    // npm adds this folder while it runs the tests.
    const withoutPackages = PATH.split(':').filter((path) => !path.includes('node_modules'));
    const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], {
      cwd: folder,
      env: { PATH: withoutPackages.join(':'), NODE_ENV: 'production' },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stdout + stderr).toBe(
      'The packages for the build are missing. With NODE_ENV=production, npm installs them only with: npm ci --include=dev\n',
    );
  });
});
