import { Browser } from '../../support/browser.js';
import { startCluster, type Cluster } from '../../support/cluster.js';
import { onEachEngine } from '../../support/database.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { rateLimits, type TestClient, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { byExtent } from '../../suite.js';
import { reportFigure } from '../figures.js';

/** Per phone number with and without a user. */
const SAMPLES = byExtent({ whole: 400, quick: 200 });
/** Requests before the measurement, so that Node has compiled the code. */
const WARM_UP = 100;
const SIGN_IN = '/oauth/authorize/sign-in';
/**
 * The probability that one sample of a member takes longer than one of a stranger, plus half of that of a tie: 0.5 means that the
 * duration reveals nothing. With 200 samples of each, chance exceeds 0.6 once in three thousand runs.
 */
const MAX_AREA = 0.6;

/** All requests come from one address, which the default settings limit. */
const FROM_ONE_ADDRESS = rateLimits({
  'authorize-calls': UNLIMITED,
  'sign-in-address-calls': UNLIMITED,
  'address-messages-per-hour': UNLIMITED,
});

/** The duration in milliseconds of the response to the phone form, and of the three requests after it. */
type Durations = [number, number, number, number];

/** OWASP ASVS 5, 6.3.8; CWE-204. The visitor sends all requests one after the other, each as soon as the previous one is answered. */
onEachEngine('Enumeration of phone numbers by response times', (database) => {
  const app = useTestApp(database);
  let service: Cluster;
  let client: TestClient;
  let phones: { member: string; stranger: string }[];

  beforeAll(async () => {
    client = await app().addClient();
    phones = [];
    for (let each = 0; each < SAMPLES + WARM_UP; each += 1) {
      const { phone } = await app().addUser();
      phones.push({ member: phone, stranger: phone.replace('+1415', '+1416') });
    }
    service = await startCluster({ url: database.url, env: FROM_ONE_ADDRESS }, { processes: 1 });
  }, 120_000);
  afterAll(() => service.stop());

  async function timed(request: () => Promise<unknown>): Promise<number> {
    const start = performance.now();
    await request();
    return performance.now() - start;
  }

  async function sample(phone: string): Promise<Durations> {
    const visitor = new Browser(service);
    const page = await visitor.open(authorizeLink(client));
    let codePage = '';
    const first = await timed(async () => {
      const { location } = await visitor.submit(page, SIGN_IN, { phone }, { follow: false });
      codePage = location ?? '';
    });
    const second = await timed(() => visitor.open(codePage));
    const third = await timed(() => visitor.open(authorizeLink(client)));
    const fourth = await timed(() => service.fetch('/dev/v1/me'));
    // Background work of this sample must not slow down the next one.
    await new Promise((resolve) => setTimeout(resolve, 60));
    return [first, second, third, fourth];
  }

  it('O54 finds no difference between members and strangers in the response and the next three requests', async ({
    task,
  }) => {
    const members: Durations[] = [];
    const strangers: Durations[] = [];
    for (const [index, { member, stranger }] of phones.entries()) {
      // In turn first, so that a drift of the machine affects both alike.
      const order = index % 2 === 0 ? [member, stranger] : [stranger, member];
      for (const phone of order) {
        const durations = await sample(phone);
        if (index >= WARM_UP) (phone === member ? members : strangers).push(durations);
      }
    }
    const areas = [0, 1, 2, 3].map((request) =>
      areaUnderCurve(
        members.map((durations) => durations[request] ?? 0),
        strangers.map((durations) => durations[request] ?? 0),
      ),
    );
    reportFigure(
      task,
      `area under the curve of one sample on ${database.engine.label}: ${areas.map((area) => area.toFixed(2)).join(', ')}`,
    );
    for (const area of areas) expect(Math.max(area, 1 - area)).toBeLessThanOrEqual(MAX_AREA);
  }, 300_000);
});

/** The area under the ROC curve (the statistic of Mann and Whitney, divided by the number of pairs). */
function areaUnderCurve(positive: readonly number[], negative: readonly number[]): number {
  let wins = 0;
  for (const one of positive)
    for (const other of negative) wins += one > other ? 1 : one === other ? 0.5 : 0;
  return wins / (positive.length * negative.length);
}
