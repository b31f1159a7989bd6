import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const AT_ONCE = 40;
const ROUNDS = 5;
const POST = { content: 'Hi', latitude: 37.5, longitude: -122.25 };

onSqlite('An Idempotency-Key of requests at once that are all refused', (database) => {
  // Whoever waits for a place comes while others are refused.
  const app = useTestApp(database, { DB_POOL_SIZE: '1' });

  /** Of requests that are the same, in each of several rounds. */
  async function statuses(member: Member, path: string, body: object): Promise<Set<number>> {
    const found = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': `key-${round}` };
      const send = () => member.postRaw(path, JSON.stringify(body), headers);
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, send));
      for (const { status } of answers) found.add(status);
    }
    return found;
  }

  it('answers none with a post that was rolled back', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    await member.publish();
    await app().service(QuotaService).set(clientId, { limit: 1 }, { actor: 'test' });
    expect(await statuses(member, '/posts', POST)).toEqual(new Set([429]));
  });

  it('answers none with a comment that was rolled back', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    await member.delete(`/posts/${id}`);
    const path = `/posts/${id}/comments`;
    expect(await statuses(member, path, { text: 'Hi' })).toEqual(new Set([404]));
  });
});
