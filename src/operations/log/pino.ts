import { isatty } from 'node:tty';
import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from 'pino';
import { build as pretty } from 'pino-pretty';
import { currentRequest } from '../../common/current-request.js';
import type { AppConfig } from '../../config/app-config.js';

const STANDARD_OUTPUT = 1;

/** Pino's names for the levels of `LOG_LEVEL`, which are Nest's. */
const LEVELS: Readonly<Record<AppConfig['server']['logLevel'], Level>> = {
  fatal: 'fatal',
  error: 'error',
  warn: 'warn',
  log: 'info',
  debug: 'debug',
  verbose: 'trace',
};

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
      level: LEVELS[config.server.logLevel],
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
