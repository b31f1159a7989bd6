import { Logger, type INestApplication } from '@nestjs/common';
import { Shutdown } from './shutdown.js';

/** Ends the process at the first SIGTERM, SIGINT or SIGHUP: in order, with exit code 0. At the second it ends at once, with 1. */
export function endOnSignals(app: INestApplication): void {
  const logger = new Logger(Shutdown.name);
  let isEnding = false;
  const end = async (): Promise<void> => {
    try {
      await app.get(Shutdown).leave();
      await app.close();
      process.exit(0);
    } catch (error) {
      logger.error('The service could not end in order.', (error as Error).stack);
      process.exit(1);
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isEnding) process.exit(1);
    isEnding = true;
    logger.log(`${signal}: finishing what was begun. A second signal ends the service at once.`);
    void end();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
}
