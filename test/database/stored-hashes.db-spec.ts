import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { isDuplicateKey } from '../../src/platform/database/errors.js';
import { newId } from '../../src/platform/ids.js';
import { newSecret, sha256 } from '../../src/platform/secrets.js';
import { AppSecret } from '../../src/modules/oauth/clients/client.entities.js';
import {
  AccessToken,
  AuthorizationCode,
  RefreshToken,
} from '../../src/modules/oauth/tokens/token.entities.js';
import { connectMigrated, onEachEngine } from '../support/database.js';

const NOW = new Date('2026-11-21T08:00:00.123Z');

onEachEngine('Stored hashes of credentials', ({ url }) => {
  let dataSource: DataSource;

  beforeAll(async () => {
    dataSource = await connectMigrated(url);
  });
  afterAll(() => dataSource.destroy());

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
});
