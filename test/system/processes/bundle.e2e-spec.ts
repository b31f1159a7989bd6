import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommandProcess } from '../../support/command-line.js';
import { sqliteFile } from '../../support/database.js';
import { json } from '../../support/responses.js';
import { startProcess } from '../../support/service-process.js';

const BUNDLE = 'dist/src/bundle';
/** The packages that a process loads from their own folder, since they find files there. */
const APART = ['better-sqlite3', 'bindings', 'file-uri-to-path'];

/** Prints, at the end of a process, the packages that it loaded from their folder. */
const TELL_PACKAGES = `
  import { Module } from 'node:module';
  process.on('exit', () => {
    const packages = Object.keys(Module._cache).map((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
    process.stderr.write('loaded: ' + JSON.stringify([...new Set(packages)].filter(Boolean).sort()));
  });`;

interface Document {
  servers: unknown;
}

describe('What the build makes of the two programs', () => {
  const database = sqliteFile();

  it('answers the published document', async () => {
    const service = await startProcess({ url: database.url });
    const served = await json<Document>(await fetch(`${service.baseUrl}/openapi.json`));
    await service.stop();
    const committed = JSON.parse(await readFile('openapi/openapi.json', 'utf8')) as Document;
    const publicUrl = JSON.stringify(committed).match(/http:\/\/localhost:\d+/)?.[0] ?? '';
    expect(JSON.parse(JSON.stringify(served).replaceAll(service.baseUrl, publicUrl))).toEqual(
      committed,
    );
  });

  it('holds all packages but those that need their own folder', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(TELL_PACKAGES)}`;
    const { code, stderr } = await runCommandProcess(['db', 'status'], {
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=${preload}`,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `loaded: ${JSON.stringify(APART)}` });
  });

  it('has no character that makes V8 keep a text in two bytes each', async () => {
    const files = (await readdir(BUNDLE)).filter((name) => name.endsWith('.js'));
    expect(files).toContain('main.js');
    for (const file of files) {
      const [character] = /[^\0-\xFF]/.exec(await readFile(join(BUNDLE, file), 'utf8')) ?? [];
      expect({ file, character }).toEqual({ file, character: undefined });
    }
  });
});
