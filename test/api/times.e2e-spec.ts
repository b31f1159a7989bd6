import { vi } from 'vitest';
import { onOneEngine } from '../support/database.js';
import { Member, type PageBody, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const APIA = 'Pacific/Apia';
const SERVER_ZONE = '+05:30';

/** The text of a stored time. */
const storedForm = (time: string) => time.replace('T', ' ').replace('Z', '');

async function storedTime(app: TestApp, id: string): Promise<unknown> {
  const rows = await app.dataSource.query<{ as_text: string }[]>(
    'SELECT CAST(created_at AS CHAR) AS as_text FROM posts WHERE id = ?',
    [id],
  );
  return rows[0]?.as_text;
}

onOneEngine(
  'Times of a service in the zone of Apia with a database in the zone of India',
  (database) => {
    // One connection, because the time zone is set per session.
    const app = useTestApp(database, { DB_POOL_SIZE: '1' });
    const onServer = database.engine.kind !== 'sqlite';
    beforeAll(async () => {
      vi.stubEnv('TZ', APIA);
      if (onServer) await app().dataSource.query(`SET SESSION time_zone = '${SERVER_ZONE}'`);
    });
    afterAll(() => {
      vi.unstubAllEnvs();
    });

    it.each([
      '2026-11-21T09:30:00.000Z',
      '2026-12-31T23:59:59.999Z',
      '2027-01-01T00:00:00.007Z',
      // Apia had no 30 December 2011: it crossed the date line.
      '2011-12-30T12:00:00.000Z',
    ])('C79 returns %s in UTC to the millisecond in every response', async (moment) => {
      // The process is in the zone of Apia, 13 hours ahead of UTC.
      expect(new Date('2026-11-21T00:00:00Z').getTimezoneOffset()).toBe(-13 * 60);
      app().clock.set(moment);
      const member = await Member.join(app());
      const { id, createdAt } = await member.publish();
      expect(createdAt).toBe(moment);
      expect(createdAt).toMatch(TIME);
      expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ createdAt: moment });
      const { data } = await json<PageBody<PostBody>>(await member.get('/posts'));
      expect(data).toMatchObject([{ id, createdAt: moment }]);
      const analytics = await json(await member.get(`/posts/${id}/analytics`));
      expect(analytics).toMatchObject({ publishedAt: moment });
      expect(await member.comment(id)).toMatchObject({ createdAt: moment });
      const comments = await json(await member.get(`/posts/${id}/comments`));
      expect(comments).toMatchObject({ data: [{ createdAt: moment }] });
      expect(await storedTime(app(), id)).toBe(storedForm(moment));
      const zones: unknown = onServer
        ? await app().dataSource.query('SELECT @@session.time_zone AS zone')
        : [];
      expect(zones).toEqual(onServer ? [{ zone: SERVER_ZONE }] : []);
    });
  },
);
