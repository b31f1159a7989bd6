import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { App, AppSecret } from '../../src/modules/oauth/clients/client.entities.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';

const TIMEOUT_MS = 60_000;

/** Runs the built command line with standard output on a full disk. */
async function intoFullDisk(args: string[], env: Record<string, string>) {
  const full = openSync('/dev/full', 'w');
  try {
    const child = spawn(process.execPath, ['dist/src/bundle/cli.js', ...args], {
      stdio: ['ignore', full, 'pipe'],
      env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env },
    });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, stderr };
  } finally {
    closeSync(full);
  }
}

onEachEngine('Commands that print a secret once', (database) => {
  const { app } = useCommands(database);
  const env = { DATABASE_URL: database.url };

  it(
    '"app secret rotate" changes nothing if the secret cannot be printed',
    async () => {
      const { clientId } = await app().addClient();
      const find = () => app().dataSource.manager.findBy(AppSecret, { clientId });
      const before = await find();
      const rotate = ['app', 'secret', 'rotate', clientId, '--grace', '0', '--yes'];
      const { code, stderr } = await intoFullDisk(rotate, env);
      expect(code).toBe(1);
      expect(stderr).toContain('The result cannot be written: ENOSPC');
      expect(await find()).toEqual(before);
    },
    TIMEOUT_MS,
  );

  it(
    '"app create" registers no app if the secret cannot be printed',
    async () => {
      const name = 'Never Shown';
      const { code } = await intoFullDisk(
        [
          ...['app', 'create', '--name', name, '--scope', 'posts.read'],
          ...['--redirect-uri', 'https://garden.example/callback'],
        ],
        env,
      );
      expect(code).toBe(1);
      expect(await app().dataSource.manager.countBy(App, { name })).toBe(0);
    },
    TIMEOUT_MS,
  );
});
