import { Logger, type INestApplication } from '@nestjs/common';
import { SECOND } from '../../common/clock.js';
import { Shutdown } from './shutdown.js';

/** What a terminal and whoever started this process in it send for one Ctrl-C counts once. */
const REPEATED_WITHIN_MS = SECOND / 2;

/** Ends the process at the first SIGTERM, SIGINT or SIGHUP: in order, with exit code 0. At the second it ends at once, with 1. */
export function endOnSignals(app: INestApplication): void {
  const logger = new Logger(Shutdown.name);
  let isAsked = false;
  let isImpatient = false;
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
    if (isImpatient) process.exit(1);
    if (isAsked) return;
    isAsked = true;
    setTimeout(() => (isImpatient = true), REPEATED_WITHIN_MS).unref();
    logger.log(`${signal}: finishing what was begun. A second signal ends the service at once.`);
    void end();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
}
