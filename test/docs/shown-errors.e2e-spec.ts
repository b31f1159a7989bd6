import { readFileSync } from 'node:fs';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

/** The one error body that a page shows, without what differs from request to request and from place to place. */
function shownIn(file: string): Partial<ErrorBody> {
  const [, block = '{}'] = /^```json\n(.*?)^```$/ms.exec(readFileSync(file, 'utf8')) ?? [];
  return told(JSON.parse(block) as ErrorBody);
}

function told({ request_id, doc_url, ...rest }: ErrorBody): Partial<ErrorBody> {
  expect(request_id).toMatch(/^req_\w{26}$/);
  return { ...rest, doc_url: new URL(doc_url).pathname + new URL(doc_url).hash };
}

onSqlite('The errors that the documentation shows', (database) => {
  const app = useTestApp(database);

  it('are what the API answers', async () => {
    const reader = await Member.join(app(), { scopes: ['posts.read'] });
    const refused = await reader.post('/posts', { content: 'Hi' });
    expect(shownIn('README.md')).toEqual(told(await json<ErrorBody>(refused)));
    const member = await Member.join(app());
    const invalid = await member.post('/posts', { content: 'Hi', latitude: 91, longitude: 0 });
    expect(shownIn('docs/integrate.md')).toEqual(told(await json<ErrorBody>(invalid)));
  });
});
