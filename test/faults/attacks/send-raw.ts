import { connect } from 'node:net';

/** Longer than a response takes on a slow machine, and shorter than the timeouts of the service for requests. */
const SILENCE_TIMEOUT_MS = 2000;

/** The response bytes of one connection. */
export interface RawResult {
  text: string;
  /** Final statuses in order, without 1xx. */
  statuses: number[];
  /** Whether the service closed the connection. */
  isClosed: boolean;
}

/**
 * Writes these raw parts one after the other, one byte per character. Ends when the service closes the connection or goes
 * silent.
 */
export function sendRaw(url: string, ...parts: readonly string[]): Promise<RawResult> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part, 'latin1');
    });
    const end = (isClosed: boolean) => (): void => {
      clearTimeout(silenceTimer);
      socket.destroy();
      resolve({ text, statuses: statusesIn(text), isClosed });
    };
    let silenceTimer = setTimeout(end(false), SILENCE_TIMEOUT_MS);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      clearTimeout(silenceTimer);
      silenceTimer = setTimeout(end(false), SILENCE_TIMEOUT_MS);
    });
    socket.on('error', () => undefined).on('close', end(true));
  });
}

/**
 * The bytes of a request.
 * @param line method and target
 */
export function requestOf(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, '', body].join('\r\n');
}

function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status));
}
