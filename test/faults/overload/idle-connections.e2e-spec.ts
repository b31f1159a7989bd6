import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onSqlite } from '../../support/database.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { reportFigure } from '../figures.js';

const MAX_CONNECTIONS = 4096;
const CONNECTIONS = MAX_CONNECTIONS + 500;
const BATCH = 500;
/** Connections of others, such as readiness checks. */
const TOLERANCE = 10;
const MAX_MEMORY_MB = 300;
const SETTLE_TIMEOUT_MS = 5000;
const TEST_TIMEOUT_MS = 60_000;

onSqlite('More connections than the limit of a process', (database) => {
  let service: ServiceProcess;
  const callers: Socket[] = [];
  beforeAll(async () => {
    const env = { MIGRATE: '1', DEMO: '0', LOG_LEVEL: 'error', REQUEST_TIMEOUT_MS: '60000' };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(async () => {
    for (const caller of callers) caller.destroy();
    await service?.stop();
  });

  async function connectCaller(): Promise<void> {
    const { hostname, port } = new URL(service.baseUrl);
    const caller = connect(Number(port), hostname);
    callers.push(caller.on('error', () => caller.destroy()).resume());
    await once(caller, 'connect');
  }

  const open = (): number => callers.filter(({ destroyed }) => !destroyed).length;

  it(
    'closes excess connections and uses bounded memory',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task }) => {
      while (callers.length < CONNECTIONS) {
        const some = Math.min(BATCH, CONNECTIONS - callers.length);
        await Promise.all(Array.from({ length: some }, connectCaller));
      }
      await expect.poll(open, { timeout: SETTLE_TIMEOUT_MS }).toBeLessThanOrEqual(MAX_CONNECTIONS);
      expect(open()).toBeGreaterThan(MAX_CONNECTIONS - TOLERANCE);
      const closed = CONNECTIONS - open();
      for (const caller of callers) caller.destroy();
      const health = async (): Promise<number> =>
        (await fetch(`${service.baseUrl}/livez`).catch(() => ({ status: 0 }))).status;
      await expect.poll(health, { timeout: SETTLE_TIMEOUT_MS }).toBe(200);
      const memory = await service.peakMemory();
      expect(memory).toBeLessThan(MAX_MEMORY_MB);
      reportFigure(task, `${CONNECTIONS} connections: ${closed} closed, ${memory} MB`);
    },
  );
});
