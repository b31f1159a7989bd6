import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import {
  RENDERED_GUIDE,
  POSTMAN_COLLECTION,
  POSTMAN_ENVIRONMENT,
} from '../src/docs/served-files.js';
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
await packClient();
