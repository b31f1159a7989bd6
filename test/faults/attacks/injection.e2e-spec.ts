import { newId } from '../../../src/platform/ids.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import type { PrivateServer } from '../../support/server-by-command.js';
import { startPrivateServer } from '../../support/database-server.js';
import { onEachServer, onSqlite } from '../../support/database.js';
import { type CommentBody, Member, type PageBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { DECISION } from '../../support/sign-in.js';
import { runSql } from '../../support/sql.js';
import { TestApp, useTestApp } from '../../support/test-app.js';
import { escaped, HIDDEN, HOSTILE_LINES, HOSTILE_TEXTS } from './hostile-texts.js';

const PLAIN = 'Plain words';

/** A page without its random values and the last digits of phones. */
function withoutRandomValues(html: string): string {
  return (
    html
      .replaceAll(
        /(name="(?:transaction|token|user|client_id|next|identity)"[^>]* value=")[^"]*/g,
        '$1',
      )
      .replaceAll(/svc_app_\w{26}/g, '')
      .replaceAll(/••\d\d/g, '••')
      .replaceAll(/<time .*?<\/time>/g, '')
      // The initial of a name, escaped.
      .replaceAll(/aria-hidden="true">(<span>)?([^<&]+|&\w+;|&#\d+;)</gu, 'aria-hidden="true">$1<')
  );
}

/** Asserts that a page with a hostile text equals the page with plain text, apart from the escaped text. */
function expectText(html: string, text: string, plain: string): void {
  expect(plain).toContain(PLAIN);
  expect(withoutRandomValues(html).replaceAll(escaped(text), PLAIN)).toBe(
    withoutRandomValues(plain),
  );
}

onEachServer('Server with NO_BACKSLASH_ESCAPES', ({ engine }) => {
  let server: PrivateServer | undefined;
  let app: TestApp | undefined;
  beforeAll(async () => {
    if (engine.kind === 'sqlite') return;
    const settings = ['--sql-mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES'];
    server = await startPrivateServer(engine.kind, { settings });
    if (server === undefined) return;
    await runSql(server.url, 'CREATE DATABASE service');
    app = await TestApp.start({ url: `${server.url}/service` });
  }, 180_000);
  afterAll(async () => {
    await app?.stop();
    await server?.stop();
  });

  it('stores hostile texts without change', async ({ skip }) => {
    if (app === undefined) return skip();
    const member = await Member.join(app);
    const post = await member.publish();
    for (const text of HOSTILE_TEXTS) expect((await member.comment(post.id, text)).text).toBe(text);
  });

  it('reveals no data of other tables', async ({ skip }) => {
    if (app === undefined) return skip();
    const { phone } = await app.addUser({ phone: '+19995550100' });
    const member = await Member.join(app);
    const { id: postId } = await member.publish();
    const hex = (text: string): string => `0x${Buffer.from(text).toString('hex')}`;
    const ids = [newId('cmt', app.clock.now()), postId, member.user.id].map(hex).join(', ');
    const stolen = '(SELECT MAX(phone) FROM users)';
    const text = `', NOW(3), NULL), (${ids}, NULL, ${stolen}, NOW(3), NULL) -- `;
    await member.post(`/posts/${postId}/comments`, { text, parentId: null });
    const { data } = await json<PageBody<CommentBody>>(
      await member.get(`/posts/${postId}/comments`),
    );
    expect(data.map((comment) => comment.text)).not.toContain(phone);
    expect(data.map((comment) => comment.text)).toEqual([text]);
  });
});

onSqlite('Injection through names', (database) => {
  const app = useTestApp(database);
  // Names of apps have no hidden characters.
  const names = HOSTILE_LINES.filter((line) => !HIDDEN.test(line));

  /** The pages of consent and of connected apps that show an app and a user with this name, in a fixed order. */
  async function pagesWith(name: string): Promise<string[]> {
    const client = await app().addClient({ name });
    const user = await app().addUser({ name });
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const consent = await visitor.signIn(authorizeLink(client), user);
    await visitor.submit(consent, DECISION, { scope: 'profile.read', decision: 'approve' });
    const list = await visitor.open('/account/apps');
    const one = await visitor.open(`/account/apps/${client.clientId}`);
    const removed = await visitor.submit(one, '/account/apps/revoke');
    return [phonePage, consent, list, one, removed].map(({ html }) => html);
  }

  it('escapes hostile names on the pages of consent and of connected apps', async () => {
    const plain = await pagesWith(PLAIN);
    for (const name of names)
      for (const [index, html] of (await pagesWith(name)).entries())
        expectText(html, name, plain[index] ?? '');
  });
});
