import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { approve, exchange, sendRefresh } from '../support/oauth-flow.js';
import { onEachEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { json, type TokenBody } from '../support/responses.js';
import { statementsWithoutBackground, useTestApp } from '../support/test-app.js';

const WRITE = /^\s*(INSERT|UPDATE|DELETE|REPLACE|START|BEGIN|COMMIT|SET)\b/i;

onEachEngine('SQL statements per request', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let id: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id } = await member.publish());
    for (let number = 1; number <= 3; number += 1) {
      await member.publish();
      const author = await app().addUser();
      await app()
        .service(CommentsService)
        .add(member.user.id, id, { text: 'Hi', parentId: null, authorId: author.id });
    }
  });

  const statementsOf = (call: () => Promise<Response>): Promise<string[]> =>
    statementsWithoutBackground(app(), async () => {
      const response = await call();
      await response.text();
      expect(response.ok).toBe(true);
    });

  it.each([
    ['/me', 2],
    ['/quota', 2],
    ['/requests', 2],
    ['/posts/:id', 2],
    ['/posts/:id/analytics', 2],
    ['/posts', 3],
    ['/posts?page=2&limit=1', 3],
    ['/posts?before=post_7zzzzzzzzzzzzzzzzzzzzzzzzz&limit=1', 3],
    ['/posts/:id/comments', 3],
    ['/posts/:id/comments?page=2&limit=1', 3],
    ['/posts/:id/comments?before=cmt_7zzzzzzzzzzzzzzzzzzzzzzzzz&limit=1', 3],
  ] as const)('GET %s executes at most %d statements and no write', async (path, max) => {
    const statements = await statementsOf(() => member.get(path.replace(':id', id)));
    expect(statements.filter((statement) => WRITE.test(statement))).toEqual([]);
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(max);
  });

  it.each(['/posts', '/posts/:id/comments'])(
    'GET %s executes as many statements for many items as for one',
    async (path) => {
      const few = await statementsOf(() => member.get(`${path.replace(':id', id)}?limit=1`));
      const many = await statementsOf(() => member.get(`${path.replace(':id', id)}?limit=50`));
      expect(many.length).toBe(few.length);
    },
  );

  it('POST /posts executes 8 statements: token, START, post, counter, call, quota, COMMIT, remaining quota', async () => {
    const statements = await statementsOf(() => member.post('/posts', { content: 'Hi' }));
    const table = (name: string) => String.raw`[\x60"]?\b${name}\b`;
    expect(statements).toEqual(
      [
        `^SELECT .* FROM ${table('access_tokens')}`,
        '^(START|BEGIN) TRANSACTION$',
        `^INSERT INTO ${table('posts')}`,
        `^UPDATE ${table('users')}`,
        `^INSERT INTO ${table('api_calls')}`,
        `^UPDATE ${table('quota_usage')}`,
        '^COMMIT$',
        `^SELECT .* FROM ${table('quota_usage')}`,
      ].map((statement) => expect.stringMatching(new RegExp(statement)) as string),
    );
  });

  it('POST /posts without a quota limit executes 7 statements', async () => {
    const quota = app().service(QuotaService);
    await quota.set(member.client.clientId, { limit: null }, { actor: 'test' });
    expect(await statementsOf(() => member.post('/posts', { content: 'Hi' }))).toHaveLength(7);
    await quota.set(member.client.clientId, { limit: 100 }, { actor: 'test' });
  });

  it('C97 POST /posts with an Idempotency-Key executes two more statements, and on a server two that limit its lock wait to a second', async () => {
    const lockWaitStatements = database.engine.kind === 'sqlite' ? 0 : 2;
    let key = 0;
    const statements = await statementsOf(() =>
      member.postRaw('/posts', '{"content":"Hi"}', {
        'content-type': 'application/json',
        'idempotency-key': `key-${(key += 1)}`,
      }),
    );
    expect(statements).toHaveLength(8 + 2 + lockWaitStatements);
  });

  it.each([
    ['without a key executes 6 statements: token, author, START, counter, comment, COMMIT', {}, 0],
    [
      'with an Idempotency-Key executes two more statements, and on a server two that limit its lock wait to a second',
      { 'idempotency-key': 'comment-' },
      2,
    ],
  ])('POST /posts/:id/comments %s', async (_, header, keyStatements) => {
    const lockWaitStatements = keyStatements > 0 && database.engine.kind !== 'sqlite' ? 2 : 0;
    let key = 0;
    const statements = await statementsOf(() => {
      key += 1;
      const headers = Object.entries(header).map(([name, prefix]) => [name, `${prefix}${key}`]);
      return member.postRaw(`/posts/${id}/comments`, '{"text":"Hi"}', {
        'content-type': 'application/json',
        ...(Object.fromEntries(headers) as Record<string, string>),
      });
    });
    expect(statements, statements.join('\n')).toHaveLength(6 + keyStatements + lockWaitStatements);
  });

  it('DELETE /posts/:id executes 5 statements: token, START, post, counter, COMMIT', async () => {
    const posts = [await member.publish(), await member.publish(), await member.publish()];
    const statements = await statementsOf(() => member.delete(`/posts/${posts.pop()?.id}`));
    expect(statements, statements.join('\n')).toHaveLength(5);
  });

  it('POST /oauth/token executes 9 statements for a public app: none for the failed attempts, 9 for the tokens with one audit event', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    // `statementsWithoutBackground` exchanges one code in each of its three runs.
    const codes = await Promise.all(
      [1, 2, 3].map(async () =>
        (await approve(app(), await app().addUser(), publicClient)).get('code'),
      ),
    );
    let tokens: TokenBody | undefined;
    const exchanged = await statementsWithoutBackground(app(), async () => {
      tokens = await json<TokenBody>(await exchange(app(), publicClient, codes.pop() ?? ''));
    });
    // SQLite locks the grant with a statement of its own.
    const expected = database.engine.kind === 'sqlite' ? 10 : 9;
    expect(exchanged.length, exchanged.join('\n')).toBe(expected);
    const refreshed = await statementsWithoutBackground(app(), async () => {
      tokens = await json<TokenBody>(await sendRefresh(app(), publicClient, tokens?.refresh_token));
    });
    expect(tokens?.access_token).toBeDefined();
    expect(refreshed.length, refreshed.join('\n')).toBe(expected);
  });

  it('a call without a token executes no statement', async () => {
    expect(await statementsWithoutBackground(app(), () => app().fetch('/dev/v1/me'))).toEqual([]);
  });
});
