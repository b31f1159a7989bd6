import { readFileSync } from 'node:fs';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

/** The first error body in a page, without its request id and host. */
function shownIn(file: string): Partial<ErrorBody> {
  const [, block = '{}'] = /^```json\n(.*?)^```$/ms.exec(readFileSync(file, 'utf8')) ?? [];
  return comparable(JSON.parse(block) as ErrorBody);
}

function comparable({ request_id, doc_url, ...rest }: ErrorBody): Partial<ErrorBody> {
  expect(request_id).toMatch(/^req_\w{26}$/);
  return { ...rest, doc_url: new URL(doc_url).pathname + new URL(doc_url).hash };
}

onSqlite('Error bodies in the documentation', (database) => {
  const app = useTestApp(database);

  it('equal the responses of the API', async () => {
    const reader = await Member.join(app(), { scopes: ['posts.read'] });
    const denied = await reader.post('/posts', { content: 'Hi' });
    expect(shownIn('docs/walkthrough.md')).toEqual(comparable(await json<ErrorBody>(denied)));
    const member = await Member.join(app());
    const invalid = await member.post('/posts', { content: 'Hi', latitude: 91, longitude: 0 });
    expect(shownIn('docs/guide/errors.md')).toEqual(comparable(await json<ErrorBody>(invalid)));
  });
});
