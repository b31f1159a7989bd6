import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import {
  COMPRESSED_FILES,
  RENDERED_GUIDE,
  POSTMAN_COLLECTION,
  POSTMAN_ENVIRONMENT,
  SWAGGER_UI_FILES,
} from '../src/docs/served-files.js';
import { CODINGS, COMPRESS, type Coding } from '../src/platform/http/compression.js';
import { packClient } from './client-package.js';
import { renderGuide } from './guide.js';
import { postmanCollection, postmanEnvironment } from './postman.js';

/*
 * Writes the files that the service serves and that no compiler makes. The working directory is the root of the repository. It runs
 * when it is imported, because `npm run dev` imports it before the service.
 */
const document = JSON.parse(await readFile('openapi/openapi.json', 'utf8')) as OpenAPIObject;
const contents = {
  [RENDERED_GUIDE]: await renderGuide(),
  [POSTMAN_COLLECTION]: postmanCollection(document),
  [POSTMAN_ENVIRONMENT]: postmanEnvironment(),
};
for (const [path, content] of Object.entries(contents)) {
  const file = join('dist', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(content));
}
await Promise.all([packClient(), ...SWAGGER_UI_FILES.map(compress)]);

/** Compresses a file of Swagger UI in each coding. That takes seconds, so the result of an earlier build of the same file is kept. */
async function compress(name: string): Promise<void> {
  const source = join('node_modules/swagger-ui-dist', name);
  for (const coding of Object.keys(CODINGS) as Coding[]) {
    const target = join('dist', COMPRESSED_FILES, name + CODINGS[coding]);
    const [built, installed] = await Promise.all([stat(target).catch(() => null), stat(source)]);
    if (built !== null && built.mtimeMs > installed.ctimeMs) continue;
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, await COMPRESS[coding](await readFile(source)));
  }
}
