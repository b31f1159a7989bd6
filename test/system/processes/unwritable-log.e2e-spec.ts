import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { useFolder } from '../../support/folder.js';
import { byExtent } from '../../suite.js';
import { concurrently } from '../../support/cluster.js';
import { sqliteFile } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { SmallDisk } from '../../support/full-disk.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const REQUESTS = 400;
/** Enough log lines to fill the pipe several times. */
const STALLED_REQUESTS = byExtent({ whole: 8000, quick: 2000 });
const CONCURRENT = 50;
/** `SHUTDOWN_DELAY_MS` is 0 here; a second for the log, and some time for the process. */
const STOP_MS = 3000;

describe('Log that cannot be written', () => {
  const { url } = sqliteFile();
  const folder = useFolder();

  async function start(stdout: number, env: Record<string, string> = {}) {
    const metricsPort = String(await freePort());
    const settings = { DEMO: '0', METRICS_PORT: metricsPort, ...env };
    const service = await startProcess({ url, env: settings, stdout });
    const readDropped = async (): Promise<number> => {
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return Number(/^log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
    };
    /** A line is written after its response, so the count is read until it no longer changes. */
    const droppedLines = async (): Promise<number> => {
      let before: number;
      let now = await readDropped();
      do {
        before = now;
        await setTimeout(100);
        now = await readDropped();
      } while (now !== before);
      return now;
    };
    return { service, droppedLines };
  }

  /** Sends requests one after the other, each of which writes a log line, and checks that the service is alive. */
  async function expectServed({ baseUrl }: ServiceProcess): Promise<void> {
    for (let number = 1; number <= REQUESTS; number += 1) {
      const signal = AbortSignal.timeout(2000);
      const response = await fetch(`${baseUrl}/nothing`, { signal });
      await response.text();
      expect(response.status).toBe(404);
    }
    for (const path of ['/livez', '/readyz'])
      expect((await fetch(baseUrl + path, { signal: AbortSignal.timeout(2000) })).status).toBe(200);
  }

  async function expectStops(service: ServiceProcess): Promise<void> {
    const begin = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - begin).toBeLessThan(STOP_MS);
  }

  /** Counts the lines of the log, and checks that all are whole JSON objects, except those that were written in part. */
  async function linesOf(file: string): Promise<{ whole: number; torn: number }> {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.startsWith('{'));
    const whole = lines.filter((line) => line.endsWith('}'));
    for (const line of whole) expect(JSON.parse(line)).toMatchObject({ level: 'info' });
    return { whole: whole.length, torn: lines.length - whole.length };
  }

  it.each<Record<string, string>>([
    { NODE_ENV: 'test' },
    { NODE_ENV: 'development', DEMO: '1', SMS_SENDER: 'console' },
  ])('does not stop requests if each write fails (ENOSPC), with %j', async (env) => {
    const device = openSync('/dev/full', 'w');
    const { service, droppedLines } = await start(device, env);
    await expectServed(service);
    expect(await droppedLines()).toBeGreaterThanOrEqual(REQUESTS);
    await expectStops(service);
    closeSync(device);
  });

  it('resumes when the disk has space again, on a new line', async () => {
    const disk = SmallDisk.mount(1);
    if (!disk) throw new Error('The test needs root, to mount a tmpfs.');
    const file = join(disk.folder, 'service.log');
    const log = openSync(file, 'a');
    try {
      const { service, droppedLines } = await start(log);
      await disk.fill();
      await expectServed(service);
      const dropped = await droppedLines();
      expect(dropped).toBeGreaterThan(0);
      const before = await linesOf(file);
      await disk.free();
      await expectServed(service);
      expect(await droppedLines()).toBe(dropped);
      await expectStops(service);
      const after = await linesOf(file);
      expect(after.whole - before.whole).toBeGreaterThanOrEqual(REQUESTS);
      expect(after.torn).toBeLessThanOrEqual(1);
    } finally {
      closeSync(log);
      disk.unmount();
    }
  });

  it('does not stop requests if the file has reached its maximum size (EFBIG), and resumes when it is truncated', async () => {
    const file = join(folder, 'service.log');
    // Larger than the database, whose size the limit concerns, too.
    const limit = 20_000_000;
    await appendFile(file, `${' '.repeat(limit - 1)}\n`);
    const log = openSync(file, 'a');
    const { service, droppedLines } = await start(log);
    execFileSync('prlimit', [`--pid=${service.pid}`, `--fsize=${limit}`]);
    await expectServed(service);
    expect(await droppedLines()).toBeGreaterThanOrEqual(REQUESTS);
    execFileSync('truncate', ['--size=0', file]);
    await expectServed(service);
    await expectStops(service);
    closeSync(log);
    expect((await linesOf(file)).whole).toBeGreaterThanOrEqual(REQUESTS);
    expect((await stat(file)).size).toBeLessThan(limit);
  });

  it.each([
    ['has closed it (EPIPE)', { isClosed: true }],
    ['stalls', { isClosed: false }],
  ])(
    'does not stop requests, nor the end of the process, if the reader of the pipe %s',
    async (_what, { isClosed }) => {
      const pipe = join(folder, `pipe-${isClosed}`);
      execFileSync('mkfifo', [pipe]);
      // This reader never reads.
      const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = openSync(pipe, 'w');
      const { service, droppedLines } = await start(writer);
      if (isClosed) closeSync(reader);
      await expectServed(service);
      const dropped = await droppedLines();
      if (isClosed) expect(dropped).toBeGreaterThanOrEqual(REQUESTS);
      else expect(dropped).toBe(0);
      await expectStops(service);
      closeSync(writer);
      if (!isClosed) closeSync(reader);
    },
  );

  it('gives a stalled reader every line when it reads again', { timeout: 60_000 }, async () => {
    const service = await startProcess({ url, env: { DEMO: '0' } });
    const lines = (): number => service.output().match(/"stalled-\d+"/g)?.length ?? 0;
    service.pauseOutput();
    for (let sent = 0; sent < STALLED_REQUESTS; sent += CONCURRENT) {
      const statuses = await concurrently(CONCURRENT, async (number) => {
        const headers = { 'x-request-id': `stalled-${sent + number}` };
        const response = await fetch(`${service.baseUrl}/nothing`, { headers });
        await response.text();
        return response.status;
      });
      expect(new Set(statuses)).toEqual(new Set([404]));
    }
    expect(lines()).toBeLessThan(STALLED_REQUESTS);
    service.resumeOutput();
    await expect.poll(lines, { timeout: 10_000 }).toBe(STALLED_REQUESTS);
    expect(await service.stop()).toBe(0);
  });
});
