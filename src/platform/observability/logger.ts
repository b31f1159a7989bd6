import { isatty } from 'node:tty';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { AppConfig } from '../config/app-config.js';
import { currentRequest } from '../request-context.js';

const STANDARD_OUTPUT = 1;

/** Nobody logs what has these names. Should somebody begin to, its value is not told. */
const SECRET_KEYS = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'access_token',
  'refresh_token',
  'code',
  'code_verifier',
  'client_secret',
  'password',
  'secret',
  'phone',
];

/** The log: each line has the id of the request that is being served, unless it tells one itself. */
export function pinoFor(config: AppConfig, output = standardOutput(config)): Logger {
  return pino(
    {
      level: config.server.logLevel,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: SECRET_KEYS.flatMap((key) => [`["${key}"]`, `*["${key}"]`]),
      mixin: (line) => ('request_id' in line ? {} : { request_id: currentRequest()?.requestId }),
    },
    output,
  );
}

/** Lines that wait for a reader, in bytes; what comes beyond is dropped. */
const MOST_WAITING = 16 * 1024 * 1024;

/**
 * One JSON object a line, or lines for people where a terminal is. Whoever logs does not wait for the reader, and what waits is
 * written before the process exits; a process that is killed takes it along.
 */
function standardOutput({ production }: AppConfig): DestinationStream {
  if (production || !isatty(STANDARD_OUTPUT))
    return pino.destination({ dest: STANDARD_OUTPUT, sync: false, maxLength: MOST_WAITING });
  return pretty({
    destination: STANDARD_OUTPUT,
    sync: true,
    singleLine: true,
    errorLikeObjectKeys: ['stack'],
    customPrettifiers: { stack: (stack) => `\n${stack as string}` },
  });
}

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

  constructor(private readonly root: Logger) {
    this.requests = root.child({ context: REQUESTS }, { redact: [] });
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
    if (typeof message === 'string') this.root[level](line, message);
    else if (message instanceof Error) this.root[level](line, message.message);
    else this.root[level]({ ...line, ...(message as object) });
  }
}

function stackOf(value: unknown): string | undefined {
  return value instanceof Error ? value.stack : undefined;
}
