import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { applicationOptions, configureApp } from './app.js';
import { loadConfig } from './config/app-config.js';
import { Migrator } from './database/migrator.js';
import { DemoService } from './modules/demo/demo.service.js';
import { startProblem } from './operations/start-problem.js';
import { welcome } from './operations/welcome.js';

async function start(): Promise<void> {
  const config = loadConfig();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(config),
    applicationOptions(config),
  );
  configureApp(app, config);
  app.enableShutdownHooks();
  if (config.database.migrateAtStart) {
    for (const name of await app.get(Migrator).migrate())
      new Logger('Migrations').log(`Applied ${name}`);
  }
  const demo = app.get(DemoService);
  const seeded = config.demo ? await demo.seedIfEmpty() : undefined;
  const { port, host } = config.server;
  await (host === undefined ? app.listen(port) : app.listen(port, host));
  process.stdout.write(welcome(config, { isDemo: config.demo && (await demo.isSeeded()), seeded }));
}

try {
  await start();
} catch (error) {
  process.stderr.write(`${startProblem(error)}\n`);
  process.exit(1);
}
