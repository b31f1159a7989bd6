import { sqliteFile } from '../../support/database.js';
import { startProcess } from '../../support/service-process.js';
import { byExtent } from '../../suite.js';

/** Enough log lines to fill the pipe several times. */
const REQUESTS = byExtent({ whole: 8000, quick: 2000 });
const CONCURRENT = 50;

describe('Stalled log reader', () => {
  const { url } = sqliteFile();

  it(
    'does not block the service; when it reads again, it gets every line',
    { timeout: 60_000 },
    async () => {
      const service = await startProcess({ url, env: { DEMO: '0' } });
      const send = async (number: number): Promise<number> => {
        const headers = { 'x-request-id': `stalled-${number}` };
        const response = await fetch(`${service.baseUrl}/nothing`, { headers });
        await response.text();
        return response.status;
      };
      const lines = (): number => service.output().match(/"stalled-\d+"/g)?.length ?? 0;
      service.pauseOutput();

      const statuses = new Set<number>();
      for (let from = 0; from < REQUESTS; from += CONCURRENT) {
        const batch = Array.from({ length: CONCURRENT }, (_, number) => send(from + number));
        for (const status of await Promise.all(batch)) statuses.add(status);
      }
      expect(statuses).toEqual(new Set([404]));
      expect(lines()).toBeLessThan(REQUESTS);

      service.resumeOutput();
      await expect.poll(lines, { timeout: 10_000 }).toBe(REQUESTS);
      expect(await service.stop()).toBe(0);
    },
  );
});
