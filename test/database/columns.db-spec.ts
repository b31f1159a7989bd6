import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { isConflict, isDuplicateKey } from '../../src/platform/database/errors.js';
import { readRows } from '../../src/platform/database/sql.js';
import { newId } from '../../src/platform/ids.js';
import { newSecret, sha256 } from '../../src/platform/secrets.js';
import { App, AppSecret } from '../../src/modules/oauth/clients/client.entities.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import {
  AccessToken,
  AuthorizationCode,
  RefreshToken,
} from '../../src/modules/oauth/tokens/token.entities.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { connect, connectMigrated, onEachEngine, onEachServer } from '../support/database.js';

const NOW = new Date('2026-11-21T08:00:00.123Z');

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

function post(content: string): Post {
  return Object.assign(new Post(), {
    id: newId('post', NOW),
    userId: newId('usr', NOW),
    type: 'post',
    images: [],
    tags: [],
    visibility: 'public',
    createdAt: NOW,
    content,
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
    const hash = sha256('some token');
    const times = { createdAt: NOW, expiresAt: NOW };
    await dataSource.manager.insert(SignInSession, { hash, userId: newId('usr', NOW), ...times });
    const count = (value: string) => dataSource.manager.countBy(SignInSession, { hash: value });
    expect([await count(hash.toUpperCase()), await count(`${hash} `)]).toEqual([0, 0]);
    expect(await count(hash)).toBe(1);
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

  it('report a duplicate phone or primary key as a duplicate key, which is not retried', async () => {
    const first = user();
    await dataSource.manager.insert(User, first);
    for (const second of [user({ phone: first.phone }), user({ id: first.id })]) {
      const failure = await failureOf(dataSource.manager.insert(User, second));
      expect([isDuplicateKey(failure), isConflict(failure)]).toEqual([true, false]);
    }
  });

  const token = (): ObjectLiteral => ({
    grantId: newId('grt', NOW),
    scope: 'posts.read',
    redirectUri: 'https://garden.example/callback',
  });
  const secret = (): ObjectLiteral => ({
    id: newId('sec', NOW),
    clientId: newId('svc_app', NOW),
    lastFour: 'abcd',
  });

  it.each([
    ['client secret', AppSecret, secret],
    ['code', AuthorizationCode, token],
    ['access token', AccessToken, token],
    ['refresh token', RefreshToken, token],
  ] as [string, EntityTarget<ObjectLiteral>, () => ObjectLiteral][])(
    'O133 rejects a second row with the hash of an existing %s',
    async (_, entity, row) => {
      const hash = sha256(newSecret('svcat'));
      const insert = (): Promise<unknown> =>
        dataSource.manager.insert(entity, { ...row(), hash, createdAt: NOW, expiresAt: NOW });
      await insert();
      const failure = await insert().catch((error: unknown) => error);
      expect(isDuplicateKey(failure)).toBe(true);
    },
  );

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
    ['a name of 201 characters', User, user({ name: 'x'.repeat(201) })],
    ['an id of 41 characters', User, user({ id: 'x'.repeat(41) })],
    ['a text of 65,536 bytes', Post, post('x'.repeat(65_536))],
  ])('reject %s instead of truncating it', async (_, entity, tooLong) => {
    const failure = await failureOf(dataSource.manager.insert(entity, tooLong));
    expect(failure).toMatchObject({ code: 'ER_DATA_TOO_LONG' });
  });
});
