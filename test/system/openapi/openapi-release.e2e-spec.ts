import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useFolder } from '../../support/folder.js';
import { releaseProblems, type ReleaseFiles } from '../../../tools/release-check.js';

interface Document {
  info: { version: string; description: string };
  paths: Record<string, object>;
}

const RELEASED = '## 1.2.0 – 2026-11-21\n\n- A line.\n';
const UNRELEASED = `## Unreleased\n\n- Another line.\n\n${RELEASED}`;

const changeDescription = (document: Document): unknown =>
  Object.assign(document.info, { description: 'In other words.' });
const addOperation = (document: Document): unknown =>
  Object.assign(document.paths, {
    '/dev/v1/friends': {
      get: {
        operationId: 'listFriends',
        responses: { 200: { description: 'The friends.' } },
        security: [{ oauth2: [] }],
      },
    },
  });
const removePath = (document: Document): unknown =>
  Reflect.deleteProperty(document.paths, '/dev/v1/me');

describe('Release check of openapi/openapi.json', () => {
  const folder = useFolder();

  /** Checks a document that was released as 1.2.0 and then changed. */
  async function problems(
    changelog: string,
    change: (document: Document) => unknown = () => undefined,
    version = '1.2.0',
  ): Promise<string[]> {
    const document = JSON.parse(await readFile('openapi/openapi.json', 'utf8')) as Document;
    document.info.version = '1.2.0';
    const pathOf = (name: string) => join(folder, name);
    const files: ReleaseFiles = {
      current: pathOf('openapi.json'),
      released: pathOf('released.json'),
      acceptedChanges: pathOf('accepted.json'),
      changelog: pathOf('CHANGELOG.md'),
    };
    await writeFile(files.released, JSON.stringify(document));
    document.info.version = version;
    change(document);
    await writeFile(files.current, JSON.stringify(document));
    await writeFile(files.acceptedChanges, '[]');
    await writeFile(files.changelog, `# Changelog\n\n${changelog}`);
    return releaseProblems(files);
  }

  it('accepts the released document and a change of its descriptions', async () => {
    expect(await problems(RELEASED)).toEqual([]);
    expect(await problems(RELEASED, changeDescription)).toEqual([]);
  });

  it('rejects an addition under the same version when the changelog has no unreleased part', async () => {
    const [problem = '', ...more] = await problems(RELEASED, addOperation);
    expect(more).toEqual([]);
    expect(problem).toMatch(
      /both have version 1\.2\.0, but differ.*openapi:release.*raise the version/,
    );
  });

  it('accepts an addition with an unreleased part of the changelog or with a new version', async () => {
    expect(await problems(UNRELEASED, addOperation)).toEqual([]);
    expect(await problems(RELEASED, addOperation, '1.3.0')).toEqual([]);
  });

  it('rejects a removal, even with an unreleased part of the changelog', async () => {
    expect((await problems(UNRELEASED, removePath)).join()).toMatch(
      /breaks clients.*path-removed/s,
    );
  });

  it('asks the developer to release the document if the changelog has a newer release', async () => {
    expect(await problems('## 1.3.0 – 2027-01-01\n', changeDescription)).toEqual([
      expect.stringMatching(
        /is 1\.3\.0, but .* has version 1\.2\.0\. Run "npm run openapi:release"/,
      ),
    ]);
  });
});
