import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
import { newId } from '../../../src/platform/ids.js';
import { VERSION } from '../../../src/platform/version.js';
import { runCommandProcess } from '../../support/command-line.js';
import { connectMigrated, sqliteFile } from '../../support/database.js';

const PROGRAM = 'dist/src/bundle/cli.js';
/** The Linux device on which every write fails for lack of space. */
const FULL = '/dev/full';

describe('Command line process', () => {
  const { url } = sqliteFile();

  it('prints its version', async () => {
    const stdout = `${VERSION}\n`;
    expect(await runCommandProcess(['--version'])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('prints its help without colours, and within a second, because it does not load the application', async () => {
    // The help must not open a database.
    const env = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none', FORCE_COLOR: '1' };
    let fastest = Infinity;
    // Other tests slow down most runs: one within the limit is enough.
    for (let round = 0; round < 12 && fastest >= 1000; round += 1) {
      const startedAt = performance.now();
      expect((await runCommandProcess(['--help'], env)).stdout).not.toContain('\u001b');
      fastest = Math.min(fastest, performance.now() - startedAt);
    }
    expect(fastest).toBeLessThan(1000);
  }, 60_000);

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('exits with a message on %s, with %d', async (signal, exitCode) => {
    // The server accepts the connection and sends nothing, so that the command waits.
    const silent = createServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const child = spawn(process.execPath, [PROGRAM, 'app', 'list'], {
      env: { PATH: process.env.PATH, DATABASE_URL: `mysql://nobody@127.0.0.1:${port}/none` },
    });
    const printed = { stdout: '', stderr: '' };
    child.stdout.on('data', (text: Buffer) => (printed.stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (printed.stderr += text.toString()));
    await once(silent, 'connection');
    const closed = once(child, 'close');
    child.kill(signal);
    expect(await closed).toEqual([exitCode, null]);
    expect(printed).toEqual({
      stdout: '',
      stderr:
        'Interrupted. Completed steps are stored; the database rolls back the current step.\n',
    });
    silent.close();
  });

  it('exits silently when its reader closes the pipe', async () => {
    const dataSource = await connectMigrated(url);
    const at = new Date();
    const common = { action: 'x', actor: 'x', subject: 'x', details: {} };
    const event = { ...common, at, reason: 'y'.repeat(400) };
    for (let batch = 0; batch < 4; batch += 1) {
      const events = Array.from({ length: 500 }, () => ({ ...event, id: newId('evt', at) }));
      await dataSource.manager.insert(AuditEvent, events);
    }
    await dataSource.destroy();
    const command = `${process.execPath} ${PROGRAM} audit list --limit all | head -n 1`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], {
      env: { PATH: process.env.PATH, DATABASE_URL: url },
    });
    expect({ stdout, stderr }).toEqual({
      stdout: `${at.toISOString()}  ${'x'.padEnd(23)}  x  reason: ${event.reason}\n`,
      stderr: '',
    });
  });

  it.skipIf(!existsSync(FULL))('reports that its output cannot be written', async () => {
    const command = `${process.execPath} ${PROGRAM} db status > ${FULL}`;
    const failure: unknown = await promisify(execFile)('sh', ['-c', command], {
      env: { PATH: process.env.PATH, DATABASE_URL: url },
    }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The result cannot be written: .*ENOSPC/),
    });
  });
});
