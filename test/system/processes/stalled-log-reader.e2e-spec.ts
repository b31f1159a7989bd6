import { sqliteFile } from '../../support/database.js';
import { startProcess } from '../../support/service-process.js';

/** Enough to fill the pipe of any system several times. */
const REQUESTS = 8000;
const AT_ONCE = 50;

describe('A reader of the log that stands still', () => {
  const { url } = sqliteFile();

  it(
    'does not stop the service, and gets every line once it reads on',
    { timeout: 60_000 },
    async () => {
      const service = await startProcess({ url, env: { DEMO: '0' } });
      const ask = async (number: number): Promise<number> => {
        const headers = { 'x-request-id': `stalled-${number}` };
        const answer = await fetch(`${service.baseUrl}/nothing`, { headers });
        await answer.text();
        return answer.status;
      };
      const lines = (): number => service.output().match(/"stalled-\d+"/g)?.length ?? 0;
      service.listen(false);

      const statuses = new Set<number>();
      for (let from = 0; from < REQUESTS; from += AT_ONCE) {
        const batch = Array.from({ length: AT_ONCE }, (_, number) => ask(from + number));
        for (const status of await Promise.all(batch)) statuses.add(status);
      }
      expect(statuses).toEqual(new Set([404]));
      expect(lines()).toBeLessThan(REQUESTS);

      service.listen(true);
      await expect.poll(lines, { timeout: 10_000 }).toBe(REQUESTS);
      expect(await service.stop()).toBe(0);
    },
  );
});
