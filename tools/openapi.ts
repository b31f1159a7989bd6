import 'reflect-metadata';
import { readFile, writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../src/app.module.js';
import { applicationOptions, configureApp } from '../src/app.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { JsonAdapter } from '../src/platform/http/server/json-adapter.js';
import { openApiDocument } from '../src/docs/openapi-document.js';

const FILE = 'openapi/openapi.json';

/** Writes the OpenAPI document with `--write`; without it, fails if the committed file is outdated. */
async function main(): Promise<void> {
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'fatal' });
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(config),
    new JsonAdapter(),
    applicationOptions(config),
  );
  configureApp(app, config);
  await app.init();
  const current = `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
  await app.close();
  if (process.argv.includes('--write')) {
    await writeFile(FILE, current);
    console.log(`Wrote ${FILE}.`);
  } else if ((await readFile(FILE, 'utf8').catch(() => '')) === current) {
    console.log(`${FILE} is up to date.`);
  } else {
    console.error(`${FILE} is outdated. Run "npm run openapi" and review the diff.`);
    process.exitCode = 1;
  }
}

await main();
