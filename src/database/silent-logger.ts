import { AbstractLogger } from 'typeorm';

/** TypeORM's own would tell of each migration that starts over, on standard output, between the results of a command. */
export class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {
    // What fails is thrown as well.
  }
}
