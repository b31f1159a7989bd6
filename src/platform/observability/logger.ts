import { styleText } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import type { AppConfig } from '../config/app-config.js';
import { currentRequest } from '../request-context.js';
import { escapeInvisible } from '../text.js';
import { standardOutput } from './log-destination.js';

/** Log lines should not have these members. If one does, its value is redacted. */
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

/** The root logger. Adds the ids of the current request to lines without a request id. Escapes what a terminal would interpret. */
export function pinoFor(config: AppConfig, output = destinationFor(config)): Logger {
  return pino(
    {
      level: config.server.logLevel,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: SECRET_KEYS.flatMap((key) => [`["${key}"]`, `*["${key}"]`]),
      hooks: { streamWrite: escapeInvisible },
      mixin: (line) => ('request_id' in line ? {} : idsOfRequest()),
    },
    output,
  );
}

function idsOfRequest(): { request_id?: string; trace_id?: string } {
  const request = currentRequest();
  return { request_id: request?.requestId, trace_id: request?.traceId };
}

/** JSON lines, or formatted lines at a terminal. */
function destinationFor({ production }: AppConfig): DestinationStream {
  if (production || !process.stdout.isTTY) return standardOutput;
  return { write: (line: string) => standardOutput.write(terminalLine(line)) };
}

/** The context of access log lines. */
export const ACCESS_LOG_CONTEXT = 'Requests';

const LEVEL_COLOURS = {
  trace: 'grey',
  debug: 'blue',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const satisfies Record<Level, string>;

/** A parsed line of `pinoFor`. */
type TerminalLine = Record<string, string | number | undefined> & {
  level: Level;
  time: string;
  stack?: string;
};

/**
 * Formats a JSON line for a terminal, such as `[09:30:00.000] WARN: The disk is full. {"context":"Here"}`, followed by the stack of
 * an error. A request is one short line, such as `201 POST /dev/v1/posts 31 ms svc_app_… req_…`.
 */
export function terminalLine(json: string): string {
  const line = JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' ? escapeInvisible(value) : value,
  ) as TerminalLine;
  if (line.context !== ACCESS_LOG_CONTEXT) return messageLine(line);
  const { status, method, route, duration_ms, error, client_id, request_id } = line;
  const duration = `${Math.round(Number(duration_ms))} ms`;
  const parts = [status, method, route, duration, error, client_id, request_id];
  return `${parts.filter((part) => part !== undefined).join(' ')}\n`;
}

function messageLine({ level, time, msg, stack, ...members }: TerminalLine): string {
  const [, timeOfDay] = time.split(/[TZ]/);
  const head = `[${timeOfDay}] ${styleText(LEVEL_COLOURS[level], level.toUpperCase())}:`;
  const rest = Object.keys(members).length > 0 ? JSON.stringify(members) : undefined;
  const line = [head, msg, rest].filter((part) => part !== undefined).join(' ');
  return `${line}\n${stack === undefined ? '' : `${stack}\n`}`;
}

/** Contexts of Nest, whose lines at `info` list modules and routes. */
const FRAMEWORK_CONTEXTS = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/** Backend of Nest's `Logger`: `log(message)`, `log({ msg, ...members })` or `error(message, stack)`. */
export class ServiceLogger implements LoggerService {
  /** Without redaction, since all members of access log lines are known. */
  private readonly accessLog: Logger;

  constructor(private readonly root: Logger) {
    this.accessLog = root.child({ context: ACCESS_LOG_CONTEXT }, { redact: [] });
  }

  log(message: unknown, ...rest: unknown[]): void {
    const [context] = rest;
    if (context === ACCESS_LOG_CONTEXT) this.accessLog.info(message);
    else if (!FRAMEWORK_CONTEXTS.has(String(rest.at(-1)))) this.write('info', message, rest);
  }

  /** Skips ExceptionHandler, whose errors `startupErrorMessage` reports. */
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

  /** @param rest an optional error or stack, then the context */
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
