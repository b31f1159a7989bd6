import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { byExtent } from '../../suite.js';
import { useTestApp } from '../../support/test-app.js';

const CONNECTIONS = 16;
const WARM_UP = byExtent({ whole: 600, quick: 300 });
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

  async function send(count: number, path: string, init: RequestInit): Promise<void> {
    const headers = { authorization: `Bearer ${member.token}`, 'content-type': 'application/json' };
    let left = count;
    const sendInTurn = async (): Promise<void> => {
      while ((left -= 1) >= 0) {
        const response = await fetch(`${service.baseUrl}/dev/v1${path}`, { ...init, headers });
        await response.text();
        if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  }

  /** The bytes that this number of requests allocates, and the bytes of them that survive two scavenges (`promoted`). */
  async function memoryOf(
    requests: number,
    path: string,
    init: RequestInit,
  ): Promise<Record<string, number>> {
    await send(WARM_UP, path, init);
    const before = service.output().length;
    await send(requests, path, init);
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
    { name: 'GET /me', count: 1800, path: '/me', init: {}, maxBytes: 130_000, maxPromoted: 0.05 },
    {
      name: 'GET /posts',
      count: 1200,
      path: '/posts?limit=20',
      init: {},
      maxBytes: 260_000,
      maxPromoted: 0.05,
    },
    {
      name: 'POST /posts',
      count: 600,
      path: '/posts',
      init: { method: 'POST', body: '{"content":"Hi"}' },
      maxBytes: 460_000,
      maxPromoted: 0.1,
    },
  ])(
    '$name allocates little and promotes almost nothing',
    async ({ count, path, init, maxBytes, maxPromoted }) => {
      const requests = byExtent({ whole: count, quick: count / 2 });
      const { allocated = 0, promoted = 0 } = await memoryOf(requests, path, init);
      expect(allocated).toBeGreaterThan(0);
      expect(promoted / allocated).toBeLessThan(maxPromoted);
      expect(allocated / requests).toBeLessThan(
        byExtent({ whole: maxBytes, quick: maxBytes * 1.5 }),
      );
    },
    60_000,
  );
});
