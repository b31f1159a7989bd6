import { ConsoleLogger } from '@nestjs/common';

const FRAMEWORK = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/** The console logger without the framework's list of what it loaded, which would push the start's own words off the screen. */
export class QuietLogger extends ConsoleLogger {
  override log(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    if (typeof context === 'string' && FRAMEWORK.has(context)) return;
    super.log(message, ...rest);
  }

  /** Whoever starts the application says in a sentence why it could not be wired. */
  override error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== 'ExceptionHandler') super.error(message, ...rest);
  }
}
