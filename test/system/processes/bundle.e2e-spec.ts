import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommandProcess } from '../../support/command-line.js';
import { sqliteFile } from '../../support/database.js';
import { EXAMPLE_ORIGIN } from '../../../src/platform/http/developer-api.js';
import { type OpenApiDocument, withoutOrigin } from '../../support/published-document.js';
import { json } from '../../support/responses.js';
import { PRINT_PACKAGES, startProcess } from '../../support/service-process.js';

const BUNDLE = 'dist/src/bundle';
/** The packages that are not bundled, since they load files from their own folder. */
const NOT_BUNDLED = ['better-sqlite3', 'bindings', 'file-uri-to-path'];

describe('Bundles', () => {
  const database = sqliteFile();

  it('serve the published document and the guide', async () => {
    const service = await startProcess({ url: database.url });
    const served = await json<OpenApiDocument>(await fetch(`${service.baseUrl}/openapi.json`));
    const guide = await (await fetch(`${service.baseUrl}/docs/guide/errors.md`)).text();
    await service.stop();
    const source = await readFile('docs/guide/errors.md', 'utf8');
    expect(guide).toBe(source.replaceAll(EXAMPLE_ORIGIN, service.baseUrl));
    const committed = JSON.parse(await readFile('openapi/openapi.json', 'utf8')) as OpenApiDocument;
    const origin = served.servers[0]?.url ?? '';
    expect(withoutOrigin(served, origin)).toEqual(withoutOrigin(committed, EXAMPLE_ORIGIN));
  });

  it('contain all packages except those that need their own folder', async () => {
    const { code, stderr } = await runCommandProcess(['db', 'status'], {
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=${PRINT_PACKAGES}`,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `loaded: ${JSON.stringify(NOT_BUNDLED)}` });
  });

  it('contain only characters that V8 stores in one byte', async () => {
    const files = (await readdir(BUNDLE)).filter((name) => name.endsWith('.js'));
    expect(files).toContain('main.js');
    for (const file of files) {
      const [character] = /[^\0-\xFF]/.exec(await readFile(join(BUNDLE, file), 'utf8')) ?? [];
      expect({ file, character }).toEqual({ file, character: undefined });
    }
  });
});
