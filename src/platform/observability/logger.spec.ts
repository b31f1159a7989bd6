import { stripVTControlCharacters } from 'node:util';
import { duringRequest } from '../request-context.js';
import { loadConfig } from '../config/load-config.js';
import { ACCESS_LOG_CONTEXT, pinoFor, ServiceLogger, terminalLine } from './logger.js';

/** Characters that a terminal interprets or does not show, except line feeds. */
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}]/u;

describe('ServiceLogger', () => {
  let written: string[];
  beforeEach(() => {
    written = [];
  });

  function loggerAt(LOG_LEVEL: string): ServiceLogger {
    const output = { write: (line: string) => written.push(line) };
    return new ServiceLogger(pinoFor(loadConfig({ LOG_LEVEL }), output));
  }

  function lines(): Record<string, unknown>[] {
    return written.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  it.each([
    ['silent', []],
    ['fatal', ['fatal']],
    ['error', ['fatal', 'error']],
    ['warn', ['fatal', 'error', 'warn']],
    ['info', ['fatal', 'error', 'warn', 'info']],
    ['debug', ['fatal', 'error', 'warn', 'info', 'debug']],
    ['trace', ['fatal', 'error', 'warn', 'info', 'debug', 'trace']],
  ])('with LOG_LEVEL=%s writes the levels %j', (level, expected) => {
    const logger = loggerAt(level);
    for (const method of ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'] as const)
      logger[method]('Something', 'Here');
    expect(lines().map((line) => line.level)).toEqual(expected);
  });

  it('writes the message and the stack of an error in one line, whichever argument is the error', () => {
    const logger = loggerAt('info');
    const error = new Error('unavailable');
    logger.error('It failed.', error.stack, 'Here');
    logger.warn('It may fail.', error, 'Here');
    logger.error(error, 'Here');
    const common = { context: 'Here', stack: error.stack };
    expect(lines()).toMatchObject([
      { ...common, msg: 'It failed.' },
      { ...common, msg: 'It may fail.' },
      { ...common, msg: 'unavailable' },
    ]);
    expect(written.join('').match(/\n/g)).toHaveLength(3);
  });

  it('adds the ids of the current request and its trace, unless the line has a request id', () => {
    const logger = loggerAt('info');
    const request = {
      requestId: 'req_1',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      receivedAt: new Date(),
      address: null,
      violations: [],
    };
    duringRequest(request, () => {
      logger.log('Within', 'Here');
      logger.log({ msg: 'Of another', request_id: 'req_2' }, 'Here');
    });
    logger.log('Outside', 'Here');
    expect(lines().map(({ msg, request_id, trace_id }) => [msg, request_id, trace_id])).toEqual([
      ['Within', 'req_1', request.traceId],
      ['Of another', 'req_2', undefined],
      ['Outside', undefined, undefined],
    ]);
  });

  it('redacts members named like a secret, at the top level and one level below', () => {
    const secrets = {
      authorization: 'Bearer a',
      cookie: 'session=a',
      'set-cookie': ['session=a'],
      token: 'a',
      access_token: 'a',
      refresh_token: 'a',
      code: 'a',
      code_verifier: 'a',
      client_secret: 'a',
      password: 'a',
      secret: 'a',
      phone: '+14155550101',
    };
    const redacted = Object.fromEntries(Object.keys(secrets).map((key) => [key, '[Redacted]']));
    loggerAt('info').log({ msg: 'Careless', headers: secrets, ...secrets }, 'Here');
    expect(lines()).toEqual([
      expect.objectContaining({ ...redacted, headers: redacted, msg: 'Careless' }),
    ]);
  });

  it('omits the startup lines of Nest and the errors of its ExceptionHandler', () => {
    const logger = loggerAt('info');
    logger.log('Mapped {/dev/v1/me, GET}', 'RouterExplorer');
    logger.error(new Error('No database'), 'ExceptionHandler');
    expect(written).toEqual([]);
  });

  it('O165 escapes control, direction and invisible characters, as JSON and at a terminal', () => {
    const logger = loggerAt('info');
    const error = new Error('No "\u202e\u001b]0;x\u0007\u009b31m"');
    logger.error('Failed\u2066 \u{e0041}', error.stack, 'Here');
    logger.log({ msg: 'request', route: '/\u202e', client_id: '\u009b' }, ACCESS_LOG_CONTEXT);
    expect(written.join('')).not.toMatch(HIDDEN);
    expect(lines()[0]?.stack).toBe(error.stack);
    const [failure = '', request] = written.map(terminalLine);
    // Without the colours.
    expect(stripVTControlCharacters(failure)).not.toMatch(HIDDEN);
    expect(failure).toContain('Failed\\u2066 \\udb40\\udc41');
    expect(failure).toContain('No "\\u202e\\u001b]0;x\\u0007\\u009b31m"');
    expect(request).toContain('/\\u202e');
    expect(request).not.toMatch(HIDDEN);
  });

  it('prints a request as one short line at a terminal', () => {
    const logger = loggerAt('info');
    const request = { msg: 'request', method: 'POST', route: '/dev/v1/posts', duration_ms: 31.4 };
    logger.log(
      { ...request, request_id: 'req_1', status: 201, client_id: 'app' },
      ACCESS_LOG_CONTEXT,
    );
    logger.log(
      { ...request, request_id: 'req_2', status: 401, error: 'unauthorized' },
      ACCESS_LOG_CONTEXT,
    );
    logger.warn('The disk is full.', 'Here');
    expect(written.map(terminalLine)).toEqual([
      '201 POST /dev/v1/posts 31 ms app req_1\n',
      '401 POST /dev/v1/posts 31 ms unauthorized req_2\n',
      expect.stringMatching(/WARN.*The disk is full\./),
    ]);
  });

  it('prints other lines at a terminal with time, level, members and stack', () => {
    const error = new Error('No database');
    const logger = loggerAt('info');
    logger.error('It failed.', error.stack, 'Here');
    logger.log({ members: 1 }, 'Here');
    const [failure, other] = written.map(terminalLine).map(stripVTControlCharacters);
    expect(failure).toMatch(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] ERROR: It failed\. {"context":"Here"}\nError: No database\n/,
    );
    expect(failure).toBe(`${failure?.split('\n')[0]}\n${error.stack}\n`);
    expect(other).toMatch(/\] INFO: {"context":"Here","members":1}\n$/);
  });
});
