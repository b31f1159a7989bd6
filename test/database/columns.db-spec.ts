import type { DataSource } from 'typeorm';
import { isConflict, isDuplicateKey } from '../../src/platform/database/errors.js';
import { readRows } from '../../src/platform/database/sql.js';
import { newId } from '../../src/platform/ids.js';
import { sha256 } from '../../src/platform/secrets.js';
import { App, AppLogoPart } from '../../src/modules/oauth/clients/client.entities.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { connect, connectMigrated, onEachEngine, onEachServer } from '../support/database.js';

const NOW = new Date('2026-11-21T08:00:00.123Z');
const HOUSE = '🏡';

let phones = 0;

function user(fields: Partial<User> = {}): User {
  return Object.assign(new User(), {
    id: newId('usr', NOW),
    status: 'active',
    phone: `+1415555${String((phones += 1)).padStart(4, '0')}`,
    name: 'Ada',
    photoUrl: null,
    neighborhood: null,
    latitude: null,
    longitude: null,
    createdAt: NOW,
    ...fields,
  });
}

function post(fields: Partial<Post> = {}): Post {
  return Object.assign(new Post(), {
    id: newId('post', NOW),
    userId: newId('usr', NOW),
    type: 'post',
    images: [],
    tags: [],
    visibility: 'public',
    createdAt: NOW,
    ...fields,
  });
}

function app(clientId: string): App {
  return Object.assign(new App(), {
    clientId,
    name: 'Partner',
    kind: 'public',
    scope: 'posts.read',
    status: 'enabled',
    createdAt: NOW,
  });
}

function session(hash: string): SignInSession {
  return Object.assign(new SignInSession(), {
    hash,
    userId: newId('usr', NOW),
    createdAt: NOW,
    expiresAt: NOW,
  });
}

async function failureOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
}

onEachEngine('Columns', ({ url }) => {
  let dataSource: DataSource;

  beforeAll(async () => {
    dataSource = await connectMigrated(url);
  });

  afterAll(() => dataSource.destroy());

  it('store an id of 34 characters', async () => {
    const clientId = newId('svc_app', NOW);
    await dataSource.manager.insert(App, app(clientId));

    expect(clientId).toHaveLength(34);
    expect(await dataSource.manager.findOneBy(App, { clientId })).toMatchObject({ clientId });
  });

  it('store a hash of 64 characters', async () => {
    const hash = sha256('some token');
    await dataSource.manager.insert(SignInSession, session(hash));

    expect(hash).toHaveLength(64);
    expect(await dataSource.manager.findOneBy(SignInSession, { hash })).toMatchObject({ hash });
  });

  it('return computed integers as numbers, from prepared and from other statements', async () => {
    const select = `
      SELECT COUNT(*) AS counted, CASE WHEN COUNT(*) > ? THEN 1 ELSE 0 END AS flag,
        EXISTS (SELECT 1 FROM migrations) AS found, 3000000000 AS large
      FROM migrations`;
    const expected = { counted: expect.any(Number) as number, flag: 1, found: 1, large: 3e9 };
    expect(await readRows(dataSource, select, [0])).toEqual([expected]);
    expect(await dataSource.query(select, [0])).toEqual([expected]);
  });

  it.each([
    ['in upper case', (value: string) => value.toUpperCase()],
    ['with a space after it', (value: string) => `${value} `],
    ['with a space before it', (value: string) => ` ${value}`],
    ['with an accent', (value: string) => value.replace('a', 'á')],
  ])('treat a key %s as another key', async (_, variantOf) => {
    const clientId = `svc_app_a${newId('usr', NOW).slice(4, 20)}`;
    const variant = variantOf(clientId);
    await dataSource.manager.insert(App, app(clientId));

    expect(await dataSource.manager.findOneBy(App, { clientId: variant })).toBeNull();
    await dataSource.manager.insert(App, app(variant));
    expect(await dataSource.manager.findOneBy(App, { clientId: variant })).toMatchObject({
      clientId: variant,
    });
    expect(await dataSource.manager.countBy(App, { clientId })).toBe(1);
  });

  it('do not find a hash in upper case or with a space after it', async () => {
    const hash = sha256('another token');
    await dataSource.manager.insert(SignInSession, session(hash));
    const count = (value: string): Promise<number> =>
      dataSource.manager.countBy(SignInSession, { hash: value });

    expect(await count(hash.toUpperCase())).toBe(0);
    expect(await count(`${hash} `)).toBe(0);
    expect(await count(hash)).toBe(1);
  });

  it('store four-byte characters up to the maximum length', async () => {
    const written = post({
      title: HOUSE.repeat(300),
      content: HOUSE.repeat(10_000),
      tags: [HOUSE, 'łódź', '日本'],
    });
    await dataSource.manager.insert(Post, written);

    const read = await dataSource.manager.findOneByOrFail(Post, { id: written.id });
    expect(read.title).toBe(written.title);
    expect(read.content).toBe(written.content);
    expect(read.tags).toEqual(written.tags);
  });

  it('store text unchanged: trailing spaces, line endings, quotes, and letters outside of Unicode NFC', async () => {
    const content = ` e\u0301 "double" 'single' \\ %_ \r\n\ttail  `;
    const written = post({ content });
    await dataSource.manager.insert(Post, written);

    const read = await dataSource.manager.findOneByOrFail(Post, { id: written.id });
    expect(read.content).toBe(content);
  });

  it('store 65,535 bytes unchanged', async () => {
    const clientId = newId('svc_app', NOW);
    const content = Buffer.from(Array.from({ length: 65_535 }, (_, index) => index % 256));
    await dataSource.manager.insert(AppLogoPart, { clientId, position: 0, content });

    const read = await dataSource.manager.findOneByOrFail(AppLogoPart, { clientId });
    expect(read.content.equals(content)).toBe(true);
  });

  it.each([
    0.1 + 0.2,
    37.774929,
    99.99999999999999,
    -122.41941600000001,
    -179.99999999999997,
    89.99999999999999,
    48.858370099999995,
    1 / 3e7,
    5e-324,
    Number.MAX_VALUE,
    Number.MAX_SAFE_INTEGER,
    0,
  ])('store the double %d exactly', async (latitude) => {
    const written = user({ latitude, longitude: -latitude });
    await dataSource.manager.insert(User, written);

    const read = await dataSource.manager.findOneByOrFail(User, { id: written.id });
    expect(read.latitude).toBe(latitude);
    expect(JSON.stringify(read.longitude)).toBe(JSON.stringify(-latitude));
  });

  it('report a duplicate phone as a duplicate key, which is not retried', async () => {
    const first = user();
    await dataSource.manager.insert(User, first);
    const failure = await failureOf(dataSource.manager.insert(User, user({ phone: first.phone })));

    expect(isDuplicateKey(failure)).toBe(true);
    expect(isConflict(failure)).toBe(false);
  });

  it('report a duplicate primary key', async () => {
    const first = user();
    await dataSource.manager.insert(User, first);
    const failure = await failureOf(dataSource.manager.insert(User, user({ id: first.id })));

    expect(isDuplicateKey(failure)).toBe(true);
  });

  it('do not report a missing value as a duplicate key', async () => {
    const nameless = Object.assign(user(), { name: null });
    const failure = await failureOf(dataSource.manager.insert(User, nameless));

    expect(failure).toBeInstanceOf(Error);
    expect(isDuplicateKey(failure)).toBe(false);
  });
});

onEachServer('Columns of a server', ({ url }) => {
  let dataSource: DataSource;

  beforeAll(async () => {
    dataSource = await connect(url);
  });

  afterAll(() => dataSource.destroy());

  it('store four-byte characters in a database that was created with latin1', async () => {
    const sql = 'SELECT @@character_set_database AS name';
    expect(await dataSource.query(sql)).toEqual([{ name: 'latin1' }]);
    await dataSource.runMigrations();
    expect(await dataSource.query(sql)).toEqual([{ name: 'utf8mb4' }]);
  });

  it.each([
    ['a name of 201 characters', user({ name: 'x'.repeat(201) })],
    ['an id of 41 characters', user({ id: 'x'.repeat(41) })],
  ])('reject %s instead of truncating it', async (_, tooLong) => {
    const failure = await failureOf(dataSource.manager.insert(User, tooLong));

    expect(failure).toMatchObject({ code: 'ER_DATA_TOO_LONG' });
  });

  it('reject text of more than 65,535 bytes instead of truncating it', async () => {
    const failure = await failureOf(
      dataSource.manager.insert(Post, post({ content: 'x'.repeat(65_536) })),
    );

    expect(failure).toMatchObject({ code: 'ER_DATA_TOO_LONG' });
  });
});
