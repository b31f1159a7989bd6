import { connect } from 'node:net';

/** Longer than the service takes to answer, on a slow machine, and shorter than it waits for a request, or for the rest of one. */
const SILENT_MS = 2000;

/** What came back over one connection. */
export interface Conversation {
  text: string;
  /** Of the answers, in their order; those before the last word on a request (1xx) are left out. */
  statuses: number[];
  /** Whether the service closed the connection. */
  isClosed: boolean;
}

/**
 * Writes these parts one after the other, a byte for each character, however malformed they are. Ends when the service closes
 * the connection, or says nothing any more.
 */
export function converse(url: string, ...parts: readonly string[]): Promise<Conversation> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part, 'latin1');
    });
    const end = (isClosed: boolean) => (): void => {
      clearTimeout(quiet);
      socket.destroy();
      resolve({ text, statuses: statusesIn(text), isClosed });
    };
    let quiet = setTimeout(end(false), SILENT_MS);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      clearTimeout(quiet);
      quiet = setTimeout(end(false), SILENT_MS);
    });
    socket.on('error', () => undefined).on('close', end(true));
  });
}

/** A request as it goes over the wire. */
export function requestOf(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, '', body].join('\r\n');
}

function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status));
}
