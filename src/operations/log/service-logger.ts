import type { LoggerService } from '@nestjs/common';
import type { Level, Logger } from 'pino';

/** The context of the lines that tell a request. */
export const REQUESTS = 'Requests';

const FRAMEWORK = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/**
 * Where Nest's `Logger` writes: `new Logger(context)` and then `log(message)`, `log({ msg, ...members })` or
 * `error(message, stack)`. The framework's list of what it loaded would push the start's own words off the screen.
 */
export class ServiceLogger implements LoggerService {
  /** For lines whose members are all known, so that nobody need look for secrets among them. */
  private readonly requests: Logger;

  constructor(private readonly pino: Logger) {
    this.requests = pino.child({ context: REQUESTS }, { redact: [] });
  }

  log(message: unknown, ...rest: unknown[]): void {
    const [context] = rest;
    if (context === REQUESTS) this.requests.info(message);
    else if (!FRAMEWORK.has(String(rest.at(-1)))) this.write('info', message, rest);
  }

  /** Whoever starts the application says in a sentence why it could not be wired. */
  error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== 'ExceptionHandler') this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  /** @param rest Nest puts the context last; before it may be an error, or the stack of one */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const [cause] = rest.slice(0, -1);
    const line = { context, stack: stackOf(message) ?? stackOf(cause) ?? cause };
    if (typeof message === 'string') this.pino[level](line, message);
    else if (message instanceof Error) this.pino[level](line, message.message);
    else this.pino[level]({ ...line, ...(message as object) });
  }
}

function stackOf(value: unknown): string | undefined {
  return value instanceof Error ? value.stack : undefined;
}
