import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPrivateServer } from '../../support/database-server.js';
import { useFolder } from '../../support/folder.js';
import { freePort } from '../../support/free-port.js';
import { installProgram } from '../../support/operate-guide.js';
import { findProgram } from '../../support/programs.js';
import { runSql } from '../../support/sql.js';

const TIMEOUT_MS = 180_000;
const BLOCK = /^```sh move\n(.*?)^```$/gms;
const PASSWORD = 'a-password-of-the-old-server';

const missing = (
  await Promise.all(
    ['mariadbd', 'mysql', 'mysqldump', 'openssl'].map(async (name) =>
      (await findProgram(name)) ? [] : [name],
    ),
  )
).flat();
if (missing.length > 0 && process.env.CI === 'true')
  throw new Error(`The move to a new server needs ${missing.join(' and ')}.`);

describe.skipIf(missing.length > 0)('docs/operate/move.md', () => {
  const folder = useFolder();

  function optionFile(name: string, { hostname, port }: URL, user: string, password: string) {
    const lines = [`host=${hostname}`, `port=${port}`, `user=${user}`, `password=${password}`];
    return writeFile(join(folder, name), ['[client]', ...lines, ''].join('\n'), { mode: 0o600 });
  }

  it.each(['ON', 'OFF'])(
    'moves the database as pasted to a server with skip_name_resolve = %s, and the service runs there',
    async (skipNameResolve) => {
      const before = await startPrivateServer('mariadb');
      const after = await startPrivateServer('mariadb', {
        settings: [`--skip-name-resolve=${skipNameResolve}`],
      });
      const [from, to] = [new URL(before?.url ?? ''), new URL(after?.url ?? '')];
      const user = `platform@'127.0.0.1'`;
      await runSql(from.href, 'CREATE DATABASE platform');
      await runSql(from.href, `CREATE USER ${user} IDENTIFIED BY '${PASSWORD}'`);
      await runSql(from.href, `GRANT ALL ON platform.* TO ${user}`);
      const bin = await installProgram(folder);
      await mkdir(join(folder, 'secrets'), { recursive: true });
      await optionFile('old.cnf', from, 'platform', PASSWORD);
      await optionFile('new-admin.cnf', to, to.username, decodeURIComponent(to.password));
      await writeFile(
        join(folder, 'secrets/database-url'),
        `mysql://platform:${PASSWORD}@${from.host}/platform\n`,
      );
      const port = await freePort();
      const blocks = [...(await readFile('docs/operate/move.md', 'utf8')).matchAll(BLOCK)];
      expect(blocks).toHaveLength(5);
      const [, start = ''] = blocks.at(-1) ?? [];
      const script = [
        'devplatform db migrate > /dev/null',
        'devplatform user add --phone +14155550142 --name "Dana Reyes" > /dev/null',
        start,
        ...blocks.map(
          ([, commands = ''], index) => `echo; echo "# step ${index + 2}"\n${commands}`,
        ),
      ].join('\n');
      try {
        const printed = execFileSync(
          'bash',
          ['-c', script.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)],
          {
            cwd: folder,
            encoding: 'utf8',
            env: {
              HOME: folder,
              PATH: `${bin}:${process.env.PATH}`,
              NEW_HOST: to.hostname,
              NEW_PORT: to.port,
              SERVICE_ADDRESS: '127.0.0.1',
              DATABASE_URL_FILE: 'secrets/database-url',
              HOST: '127.0.0.1',
              PORT: String(port),
              METRICS_PORT: 'off',
              DEMO: '0',
              SHUTDOWN_DELAY_MS: '0',
            },
          },
        );
        const steps = printed.split(/^# step \d+\n/m).slice(1);
        expect(steps[0]).toContain('platform@127.0.0.1');
        expect(steps[1]?.trim()).toBe('');
        expect(steps[2]?.trim()).toBe('');
        expect(steps[3]).toContain('The schema matches this version.');
        expect(steps[3]).not.toMatch(/^failed|collation/m);
        expect(steps[4]).toContain('{"status":"ok"}');
        const names = await runSql(
          `${to.href.replace(/\/$/, '')}/platform`,
          'SELECT name FROM users',
        );
        expect(names).toEqual([{ name: 'Dana Reyes' }]);
      } finally {
        const pid = Number(await readFile(join(folder, 'service.pid'), 'utf8').catch(() => ''));
        if (pid > 0) process.kill(pid);
        await Promise.all([before?.stop(), after?.stop()]);
      }
    },
    TIMEOUT_MS,
  );
});
