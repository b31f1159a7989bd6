import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { onOneServer } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { installProgram } from '../../support/operate-guide.js';
import { findProgram } from '../../support/programs.js';

const TIMEOUT_MS = 120_000;
/** The commands and the outputs of the ten steps, in order. */
const STEP = /^```sh step\n(.*?)^```\n\n```text\n(.*?)^```$/gms;

const missing = (
  await Promise.all(
    ['mysql', 'openssl'].map(async (name) => ((await findProgram(name)) ? [] : [name])),
  )
).flat();
if (missing.length > 0 && process.env.CI === 'true')
  throw new Error(`The ten steps need ${missing.join(' and ')}.`);

/** An output without the values that differ in each run. */
function withPlaceholders(output: string): string {
  return output
    .replaceAll(/svc_(app|sec)_[\w-]+/g, 'svc_$1_…')
    .replaceAll(/sec_\w{26}/g, 'sec_…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b(MySQL|MariaDB) [^\n]+ responds in [\d.]+ ms/g, 'SERVER responds')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\((ENOTFOUND|EAI_AGAIN)\)/g, '(ENOTFOUND)')
    .replaceAll(/\d{4}-\d\d: /g, 'MONTH: ')
    .replaceAll(/ +/g, ' ')
    .trim();
}

onOneServer('From nothing to production in ten steps', (database) => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-steps-'));
  });
  afterAll(async () => {
    const pid = Number(await readFile(join(folder, 'service.pid'), 'utf8').catch(() => ''));
    if (pid > 0) process.kill(pid);
    await rm(folder, { recursive: true });
  });

  it.skipIf(missing.length > 0)(
    'prints what docs/operate/ten-steps.md shows',
    async () => {
      const { username, password, hostname, port, pathname } = new URL(database.url);
      const name = pathname.slice(1);
      const [servicePort, metricsPort] = [await freePort(), await freePort()];
      const bin = await installProgram(folder);
      const options = `--host=${hostname} --port=${port} --user=${username}`;
      const mysql = await findProgram('mysql');
      await writeFile(join(bin, 'mysql'), `#!/bin/sh\nexec ${mysql} ${options} "$@"\n`, {
        mode: 0o755,
      });
      const guide = await readFile('docs/operate/ten-steps.md', 'utf8');
      const steps = [...guide.matchAll(STEP)];
      expect(steps).toHaveLength(11);
      // The database of the test exists, and belongs to its user.
      const script = steps
        .map(([, commands = ''], index) => `printf '\\n# step ${index + 1}\\n'\n${commands}`)
        .join('\n')
        .replace(/^CREATE DATABASE platform;.*? TO platform@'127\.0\.0\.1';$/ms, 'DO 0;')
        .replaceAll(
          'platform:$(cat secrets/database-password)@127.0.0.1:3306/platform',
          `${username}:${password}@${hostname}:${port}/${name}`,
        )
        .replaceAll("'platform'", `'${name}'`)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${servicePort}`);
      const printed = execFileSync('bash', ['-c', `set -uo pipefail\n${script}`], {
        cwd: folder,
        encoding: 'utf8',
        env: {
          HOME: folder,
          PATH: `${bin}:${process.env.PATH}`,
          MYSQL_PWD: decodeURIComponent(password),
          PORT: String(servicePort),
          METRICS_PORT: String(metricsPort),
        },
      }).replaceAll(name, 'platform');
      const outputs = printed.split(/^# step \d+\n/m).slice(1);
      expect(outputs.map(withPlaceholders)).toEqual(
        steps.map(([, , shown = '']) => withPlaceholders(shown)),
      );
    },
    TIMEOUT_MS,
  );
});
