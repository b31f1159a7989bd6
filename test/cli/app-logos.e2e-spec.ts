import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppLogoPart } from '../../src/modules/oauth/clients/client.entities.js';
import { sha256 } from '../../src/platform/secrets.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { JPEG, PNG, pngOf, pngOfPixels, WEBP } from '../support/logos.js';

const MAX_LOGO_BYTES = 262_144;
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>';

interface AppJson {
  logo_uri: string | null;
}

onEachEngine('Logo of an app', (database) => {
  const { app, cli } = useCommands(database);
  const folder = mkdtempSync(join(tmpdir(), 'platform-logos-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let id: string;
  let pipes = 0;
  beforeEach(async () => {
    ({ clientId: id } = await app().addClient());
  });

  const update = (...args: string[]): Promise<AppJson> => cli.json('app', 'update', id, ...args);
  const logoOf = async (): Promise<string | null> =>
    (await cli.json<AppJson>('app', 'show', id)).logo_uri;

  it.each([
    ['image/png', PNG, 'logo.txt'],
    ['image/jpeg', JPEG, 'logo.png'],
    ['image/webp', WEBP, 'logo.svg'],
    ['image/png', pngOf(MAX_LOGO_BYTES), 'large'],
    ['image/png', pngOf(65_535), 'one-part'],
    ['image/png', pngOf(65_536), 'two-parts'],
  ])('O168 is served as %s, by its content', async (type, logo, name) => {
    const { logo_uri } = await update('--logo', file(name, logo));
    const response = await app().fetch(new URL(logo_uri ?? '').pathname);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(logo)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': type,
      'content-length': String(logo.length),
      etag: `"${sha256(logo)}"`,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    expect((await auditTrail(app().dataSource, id)).at(-1)?.details).toEqual({
      logoHash: { from: null, to: sha256(logo) },
    });
  });

  it('O168 returns 304 to a browser that has it, without a query', async () => {
    await update('--logo', file('logo', PNG));
    const etag = (await fetchLogo(PNG)).headers.get('etag') ?? '';
    const statements = await app().statementsOf(async () => {
      const response = await fetchLogo(PNG, id, { 'if-none-match': etag });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(etag);
      expect(response.headers.get('cache-control')).toContain('immutable');
    });
    expect(statements).toEqual([]);
    expect((await fetchLogo(PNG, id, { 'if-none-match': '"x"' })).status).toBe(200);
    expect((await app().fetch(logoPath(id, PNG), { method: 'POST' })).status).toBe(405);
  });

  it.each([
    ['another hash', () => [id, '0'.repeat(64)]],
    ['a hash in upper case', () => [id, sha256(PNG).toUpperCase()]],
    ['a text', () => [id, 'x']],
    ['a NUL', () => [id, '%00']],
    ['a line break', () => [id, `${sha256(PNG)}%0A`]],
    ['SQL', () => [id, "'%20OR%201=1"]],
    ['a client_id in upper case', () => [id.toUpperCase(), sha256(PNG)]],
    ['an unknown client_id', () => ['svc_app_01h455vb4pex5vsknk084sn02q', sha256(PNG)]],
    ['no client_id', () => [sha256(PNG)]],
  ])('O168 is not at an address with %s', async (_title, segments) => {
    await update('--logo', file('logo', PNG));
    const response = await app().fetch(`/assets/app-logos/${segments().join('/')}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'not_found' });
    expect(response.headers.get('cache-control') ?? '').not.toContain('immutable');
    expect(response.headers.get('etag') ?? '').not.toContain(sha256(PNG));
  });

  it.each([
    ['SVG', () => file('logo.png', SVG), 'must be a PNG, JPEG or WebP picture'],
    ['GIF', () => file('logo.gif', 'GIF89a'), 'must be a PNG, JPEG or WebP picture'],
    ['the start of a PNG', () => file('x', PNG.subarray(0, 7)), 'must be a PNG, JPEG or WebP'],
    ['another RIFF file', () => file('x', 'RIFF\x1a\0\0\0WAVEfmt '), 'must be a PNG, JPEG or WebP'],
    ['an empty file', () => file('empty', ''), 'is empty'],
    [
      'a file of 262,145 bytes',
      () => file('big', pngOf(MAX_LOGO_BYTES + 1)),
      'has 262145 bytes; use at most 262144',
    ],
    ['a folder', () => folder, 'is not a regular file'],
    ['a device that never ends', () => '/dev/zero', 'is not a regular file'],
    ['a pipe', pipe, 'is not a regular file'],
    ['a link to a pipe', linkToPipe, 'is not a regular file'],
    [
      'a picture of 20,000 pixels',
      () => file('x', pngOfPixels(20_000, 20_000)),
      'has 20000 × 20000 pixels; use at most 1024 × 1024',
    ],
    ['a picture without dimensions', () => file('x', PNG.subarray(0, 16)), 'is damaged'],
    ['a missing file', () => join(folder, 'missing'), 'cannot be read: ENOENT'],
  ])('O168 cannot be %s', async (_title, pathOf, message) => {
    await update('--logo', file('logo', PNG));
    const before = await logoOf();
    const outcome = await cli.run('app', 'update', id, '--logo', pathOf());
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(message);
    expect(await logoOf()).toBe(before);
  });

  it('O168 is deleted when it is replaced or removed', async () => {
    const [large, small] = [pngOf(MAX_LOGO_BYTES), PNG];
    await update('--logo', file('logo', large));
    await update('--logo', file('logo', small));
    expect((await fetchLogo(large)).status).toBe(404);
    expect((await fetchLogo(small)).status).toBe(200);
    expect(await countParts()).toBe(1);
    expect(await update('--no-logo')).toMatchObject({ logo_uri: null });
    expect((await fetchLogo(small)).status).toBe(404);
    expect(await countParts()).toBe(0);
  });

  it('O168 is not at the address of another app', async () => {
    const other = await app().addClient({ logo: JPEG });
    await update('--logo', file('logo', PNG));
    expect((await fetchLogo(JPEG)).status).toBe(404);
    expect((await fetchLogo(PNG, other.clientId)).status).toBe(404);
    expect((await fetchLogo(JPEG, other.clientId)).status).toBe(200);
  });

  it('O168 stays when another app with the same logo removes it', async () => {
    const other = await app().addClient({ logo: PNG });
    await update('--logo', file('logo', PNG));
    await update('--no-logo');
    expect((await fetchLogo(PNG, other.clientId)).status).toBe(200);
  });

  function logoPath(clientId: string, logo: Buffer): string {
    return `/assets/app-logos/${clientId}/${sha256(logo)}`;
  }

  function fetchLogo(logo: Buffer, clientId = id, headers = {}): Promise<Response> {
    return app().fetch(logoPath(clientId, logo), { headers });
  }

  /** A named pipe without a writer: opening it to read waits for one. */
  function pipe(): string {
    pipes += 1;
    const path = join(folder, `pipe-${pipes}`);
    execFileSync('mkfifo', [path]);
    return path;
  }

  function linkToPipe(): string {
    const target = pipe();
    symlinkSync(target, `${target}-link`);
    return `${target}-link`;
  }

  /** Writes a file and returns its path. */
  function file(name: string, content: Buffer | string): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  function countParts(): Promise<number> {
    return app().dataSource.manager.countBy(AppLogoPart, { clientId: id });
  }
});
