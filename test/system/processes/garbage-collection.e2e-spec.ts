import { concurrently } from '../../support/cluster.js';
import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { byExtent } from '../../suite.js';
import { callAt, useTestApp } from '../../support/test-app.js';

const CONNECTIONS = 16;
const WARM_UP = byExtent({ whole: 600, quick: 300 });
type Call = [method: string, path: string, body?: object];
/** V8's trace of one scavenge. */
const COLLECTION = / gc=s .* allocated=(?<allocated>\d+) promoted=(?<promoted>\d+) /g;

onOneServer('Garbage of a request', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let service: ServiceProcess;
  beforeAll(async () => {
    // The process uses the real time, so the token must be current.
    app().clock.set(new Date().toISOString());
    member = await Member.join(app());
    for (let post = 0; post < 20; post += 1) await member.publish();
    const nodeOptions = ['--trace-gc-nvp'];
    const env = { QUOTA_DEFAULT_LIMIT: '1000000', MIGRATE: '0', DEMO: '0' };
    service = await startProcess({ url: database.url, env, nodeOptions });
  });
  afterAll(() => service?.stop());

  async function send(count: number, ...[method, path, body]: Call): Promise<void> {
    let left = count;
    await concurrently(CONNECTIONS, async () => {
      while ((left -= 1) >= 0) {
        const response = await callAt(service.baseUrl, member.token, method, path, body);
        await response.text();
        if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
      }
    });
  }

  /** The bytes that this number of requests allocates, and the bytes of them that survive two scavenges (`promoted`). */
  async function memoryOf(requests: number, ...call: Call): Promise<Record<string, number>> {
    await send(WARM_UP, ...call);
    const before = service.output().length;
    await send(requests, ...call);
    const sums = { allocated: 0, promoted: 0 };
    for (const { groups } of service.output().slice(before).matchAll(COLLECTION)) {
      sums.allocated += Number(groups?.allocated);
      sums.promoted += Number(groups?.promoted);
    }
    return sums;
  }

  // `maxBytes`: the bytes that a request may allocate (the measured bytes plus two thirds). `maxPromoted`: the fraction of them that
  // V8 may promote (four times the measured fraction). Before decision 0019, the fraction was between an eighth and a fifth.
  // V8 reports allocations once per scavenge, in steps of 32 MB, so a sum may be one step too high or too low. One step is a fifth
  // of the allocations of a whole run. In a quick run, with half the requests, one step is two fifths, so its `maxBytes` is 1.5 times
  // as high.
  it.each([
    { count: 1800, call: ['GET', '/me'], maxBytes: 130_000, maxPromoted: 0.05 },
    { count: 1200, call: ['GET', '/posts?limit=20'], maxBytes: 260_000, maxPromoted: 0.05 },
    {
      count: 600,
      call: ['POST', '/posts', { content: 'Hi' }],
      maxBytes: 460_000,
      maxPromoted: 0.1,
    },
  ] as { count: number; call: Call; maxBytes: number; maxPromoted: number }[])(
    '$call allocates little and promotes almost nothing',
    async ({ count, call, maxBytes, maxPromoted }) => {
      const requests = byExtent({ whole: count, quick: count / 2 });
      const { allocated = 0, promoted = 0 } = await memoryOf(requests, ...call);
      expect(allocated).toBeGreaterThan(0);
      expect(promoted / allocated).toBeLessThan(maxPromoted);
      expect(allocated / requests).toBeLessThan(
        byExtent({ whole: maxBytes, quick: maxBytes * 1.5 }),
      );
    },
    60_000,
  );
});
