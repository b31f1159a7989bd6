import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { applicationOptions, configureApp } from './app.js';
import { loadConfig } from './platform/config/load-config.js';
import { isLoopback } from './platform/config/loopback.js';
import { JsonAdapter } from './platform/http/server/json-adapter.js';
import { Migrator } from './platform/database/migrations/migrator.js';
import { createDatabaseFile } from './platform/database/sqlite-file.js';
import { DemoService } from './modules/demo/demo.service.js';
import { expensiveMessage } from './modules/oauth/sign-in/sms/one-time-password-message.js';
import { AuditedMigrator } from './modules/operations/audited-migrator.service.js';
import { MetricsServer } from './platform/observability/metrics-server.js';
import { startTracing } from './platform/observability/tracing.js';
import { shutDownOnSignals } from './platform/lifecycle/shutdown.js';
import { wrapListenErrors, startupErrorMessage } from './platform/lifecycle/startup-error.js';
import { welcome } from './modules/demo/welcome.js';

async function start(): Promise<void> {
  const config = loadConfig();
  await createDatabaseFile(config.database.address);
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(config),
    new JsonAdapter(),
    applicationOptions(config),
  );
  // Without a demo, no request pays for the check.
  const acceptRequests = config.demo ? holdRequests(app) : undefined;
  const { traceCollector } = config;
  const tracing =
    traceCollector === undefined
      ? undefined
      : await startTracing({ collector: traceCollector, publicUrl: config.publicUrl });
  configureApp(app, config, tracing?.currentTraceId);
  shutDownOnSignals(app, tracing?.stop);
  const isSchemaCurrent = await migrateOrCheck(app, config.database.migrateAtStart);
  const demo = app.get(DemoService);
  if (isSchemaCurrent) await demo.refuseInProduction();
  // Not inside `wrapListenErrors`, which would report errors of `init` as network problems.
  await app.init();
  const { port, host } = config.server;
  await wrapListenErrors(() => (host === undefined ? app.listen(port) : app.listen(port, host)));
  await wrapListenErrors(() => app.get(MetricsServer).listen());
  // After both ports are open: a start that fails must not create the client secret, which is printed only once.
  const allowsDemo = config.demo && isSchemaCurrent;
  const seeded = allowsDemo ? await demo.seedIfNeeded() : undefined;
  acceptRequests?.();
  for (const message of config.warnings) new Logger('Start').warn(`${message}.`);
  const expensive = expensiveMessage(config);
  if (expensive) new Logger('Start').warn(`${expensive.summary}. ${expensive.remedy}`);
  if (!config.production && !isLoopback(new URL(config.publicUrl).hostname))
    new Logger('Start').warn(
      `NOT FOR PRODUCTION: NODE_ENV is not "production", but PUBLIC_URL ${config.publicUrl} is not on this machine. Unless OTP_PEPPER and DEMO=0 are set, one-time passwords are hashed with a public pepper, and anyone can use the demo data.`,
    );
  if (config.production) new Logger('Start').log(`Serving ${config.publicUrl}`);
  else {
    const clientIds = await demo.clientIds();
    const isTestMode = await demo.isTestMode();
    const isDemo = allowsDemo && (await demo.isSeeded());
    process.stdout.write(welcome(config, isDemo ? { clientIds, isTestMode, seeded } : undefined));
  }
}

/** Lets requests, including health probes, wait until the returned function is called. */
function holdRequests(app: NestExpressApplication): () => void {
  let release: (() => void) | undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  app.use((_request: Request, _response: Response, next: NextFunction) => {
    void released.then(() => next());
  });
  return () => release?.();
}

/** Runs pending migrations, or only warns about them. @returns whether the schema is current */
async function migrateOrCheck(
  app: NestExpressApplication,
  migrateAtStart: boolean,
): Promise<boolean> {
  const logger = new Logger('Migrations');
  if (migrateAtStart) {
    const applied = await app.get(AuditedMigrator).run({ actor: 'service' });
    for (const name of applied) logger.log(`Applied ${name}`);
    return true;
  }
  const isCurrent = await app.get(Migrator).isCurrent();
  if (!isCurrent) {
    logger.warn(
      'Migrations are pending, so the service is not ready: run the command "db migrate".',
    );
  }
  return isCurrent;
}

// Without a listener, an error of the stream, such as that of a full disk, would end the process.
process.stderr.on('error', () => undefined);
// The default action of this signal would end the process. With a listener, a write beyond the limit of the file size fails instead.
process.on('SIGXFSZ', () => undefined);

try {
  await start();
} catch (error) {
  process.stderr.write(`${startupErrorMessage(error)}\n`);
  process.exit(1);
}
