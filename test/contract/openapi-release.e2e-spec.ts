import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseProblems, type ReleaseFiles } from '../../src/bin/release-check.js';

interface Document {
  info: { version: string; description: string };
  paths: Record<string, object>;
}

const RELEASED = '## 1.2.0 – 2026-11-21\n\n- A line.\n';
const UNRELEASED = `## Unreleased\n\n- Another line.\n\n${RELEASED}`;

const describedAnew = (document: Document): unknown =>
  Object.assign(document.info, { description: 'In other words.' });
const longer = (document: Document): unknown =>
  Object.assign(document.paths, {
    '/dev/v1/friends': {
      get: {
        operationId: 'listFriends',
        responses: { 200: { description: 'The friends.' } },
        security: [{ oauth2: [] }],
      },
    },
  });
const shorter = (document: Document): unknown =>
  Reflect.deleteProperty(document.paths, '/dev/v1/me');

describe('The document beside that of the newest release', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-release-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The problems of a document that was released as 1.2.0 and changed since. */
  async function problems(
    changelog: string,
    change: (document: Document) => unknown = () => undefined,
    version = '1.2.0',
  ): Promise<string[]> {
    const document = JSON.parse(await readFile('openapi/openapi.json', 'utf8')) as Document;
    document.info.version = '1.2.0';
    const place = (name: string) => join(folder, name);
    const files: ReleaseFiles = {
      current: place('openapi.json'),
      released: place('released.json'),
      accepted: place('accepted.json'),
      changelog: place('CHANGELOG.md'),
    };
    await writeFile(files.released, JSON.stringify(document));
    document.info.version = version;
    change(document);
    await writeFile(files.current, JSON.stringify(document));
    await writeFile(files.accepted, '[]');
    await writeFile(files.changelog, `# Changelog\n\n${changelog}`);
    return releaseProblems(files);
  }

  it('is that one while nothing is unreleased, but for words', async () => {
    expect(await problems(RELEASED)).toEqual([]);
    expect(await problems(RELEASED, describedAnew)).toEqual([]);
  });

  it('may not be longer under the same version while nothing is unreleased', async () => {
    const [problem = '', ...more] = await problems(RELEASED, longer);
    expect(more).toEqual([]);
    expect(problem).toMatch(/both of 1\.2\.0, and differ.*openapi:release.*raise the version/);
  });

  it('may be longer where the changelog has something unreleased, or as a version to come', async () => {
    expect(await problems(UNRELEASED, longer)).toEqual([]);
    expect(await problems(RELEASED, longer, '1.3.0')).toEqual([]);
  });

  it('may not be shorter, whatever the changelog has', async () => {
    expect((await problems(UNRELEASED, shorter)).join()).toMatch(/breaks clients.*path-removed/s);
  });

  it('is told to release when the changelog knows of a newer release', async () => {
    expect(await problems('## 1.3.0 – 2027-01-01\n', describedAnew)).toEqual([
      expect.stringMatching(/is 1\.3\.0, but .* is of 1\.2\.0\. Run "npm run openapi:release"/),
    ]);
  });
});
