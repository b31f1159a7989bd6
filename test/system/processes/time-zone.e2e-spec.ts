import { execFileSync } from 'node:child_process';
import { onOneEngine } from '../../support/database.js';
import { Member, type PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

const APIA = 'Pacific/Apia';

onOneEngine('A service process in the time zone of Apia', (database) => {
  const app = useTestApp(database);

  it('C79 returns and stores times in UTC', async () => {
    const offset = execFileSync(process.execPath, ['-p', 'new Date(0).getTimezoneOffset()'], {
      env: { TZ: APIA },
      encoding: 'utf8',
    });
    // Node knows the time zone: Apia was 660 minutes behind UTC in 1970.
    expect(offset.trim()).toBe('660');
    const before = new Date().toISOString();
    app().clock.set(before);
    const member = await Member.join(app());
    const service = await startProcess({
      url: database.url,
      env: { TZ: APIA, MIGRATE: '0', DEMO: '0' },
    });
    try {
      const call = async (path: string, body?: object): Promise<PostBody> =>
        json(
          await fetch(`${service.baseUrl}/dev/v1${path}`, {
            method: body ? 'POST' : 'GET',
            headers: {
              authorization: `Bearer ${member.token}`,
              'content-type': 'application/json',
            },
            ...(body && { body: JSON.stringify(body) }),
          }),
        );
      const { id, createdAt } = await call('/posts', { content: 'Hi' });
      expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      // The post was created between the start of the test and now.
      expect([before, createdAt, new Date().toISOString()].toSorted()[1]).toBe(createdAt);
      expect(await call(`/posts/${id}`)).toMatchObject({ createdAt });
      const [row] = await app().dataSource.query<{ text: string }[]>(
        'SELECT CAST(created_at AS CHAR) AS text FROM posts WHERE id = ?',
        [id],
      );
      expect(row?.text).toBe(createdAt.replace('T', ' ').replace('Z', ''));
    } finally {
      await service.stop();
    }
  });
});
