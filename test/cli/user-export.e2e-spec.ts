import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insertAll } from '../../src/platform/database/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { ANAS_TEXTS, twoMembers } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';

type Row = Record<string, unknown>;
type Exported = { user_id: string; exported_at: string } & Record<string, Row[]>;

onOneEngine('Command "user export"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);

  it('exports all personal data of the user, without hashes', async () => {
    const phone = '+14155558001';
    const { ana, ben, client, anasPost, bensPost } = await twoMembers(app(), phone);
    const { code, stdout, stderr } = await cli.run('user', 'export', ana.id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const exported = JSON.parse(stdout) as Exported;
    expect(exported).toMatchObject({
      user_id: ana.id,
      users: [{ id: ana.id, phone, name: ANAS_TEXTS.name, neighborhood: ANAS_TEXTS.neighborhood }],
      post_likes: [{ post_id: bensPost }],
      otp_failures: [{ phone, failures: 1 }],
    });
    expect(exported.posts?.map(({ id, content, deleted_at }) => [id, content, deleted_at])).toEqual(
      [
        [anasPost, ANAS_TEXTS.post, null],
        [expect.any(String), ANAS_TEXTS.deletedPost, expect.stringMatching(/Z$/)],
      ],
    );
    expect(exported.comments?.map(({ text }) => text)).toEqual(Array(3).fill(ANAS_TEXTS.comment));
    const { clientId: client_id, name: appName } = client;
    expect(exported.grants).toEqual([
      expect.objectContaining({ client_id, app: appName, scope: client.scopes.join(' ') }),
    ]);
    expect(exported.access_tokens).toHaveLength(1);
    expect(exported.refresh_tokens).toHaveLength(1);
    expect(exported.authorization_codes).toHaveLength(1);
    expect(exported.sign_in_sessions).toHaveLength(2);
    expect(exported.known_browsers).toHaveLength(2);
    expect(exported.idempotency_keys).toHaveLength(2);
    expect(exported.api_calls?.map(({ route }) => route)).toContain('POST /dev/v1/posts');
    expect(exported.audit_events?.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['user.added', 'grant.created']),
    );
    expect(stdout).not.toMatch(/\b[0-9a-f]{64}\b/);
    expect(stdout).not.toContain(ben.phone);
    expect(stdout).not.toContain('May I have one?');
  });

  it('exports every row of a table that it reads in several pages', async () => {
    const { id: userId } = await app().addUser();
    const otherUser = await app().addUser();
    const posts = Array.from({ length: 502 }, (_, index) => ({
      ...{ clientId: null, title: null, type: 'general', images: [], tags: [], latitude: null },
      ...{ longitude: null, neighborhood: null, reachKm: null, visibility: 'public' as const },
      ...{ likeCount: 0, commentCount: 0, createdAt: new Date() },
      id: `post_${String(index).padStart(26, '0')}`,
      userId: index === 250 ? otherUser.id : userId,
      content: `Post ${index}`,
      deletedAt: index % 2 === 0 ? null : new Date(),
    }));
    await app()
      .service(TransactionRunner)
      .run((tx) => insertAll(tx, Post, posts));
    const exported = JSON.parse((await cli.run('user', 'export', userId)).stdout) as Exported;
    expect(exported.posts).toHaveLength(501);
    expect(new Set(exported.posts?.map(({ id }) => id)).size).toBe(501);
  });

  it('writes a new file that only its owner can read (mode 0600)', async () => {
    const { id } = await app().addUser();
    const folder = await mkdtemp(join(tmpdir(), 'platform-export-'));
    try {
      const path = join(folder, 'user.json');
      const { file, bytes } = await cli.json('user', 'export', id, '--output', path);
      expect(file).toBe(path);
      expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ users: [{ id }] });
      const { mode, size } = await stat(path);
      expect({ mode: mode & 0o777, size }).toEqual({ mode: 0o600, size: bytes });
      expect(await cli.run('user', 'export', id, '--output', path)).toEqual({
        code: 1,
        stdout: '',
        stderr: `${path} already exists. Choose another file name.\n`,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
