import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Sends a GET with exactly these headers (name, value, name, value, …). They must include `Host` and the headers of the body, and
 * may repeat names.
 */
export function getRaw(url: string, headers: readonly string[], body?: Buffer): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      const { statusCode: status, headers: fields } = response;
      text(response).then(
        (content) =>
          resolve(new Response(content, { status, headers: fields as Record<string, string> })),
        reject,
      );
    });
    sent.on('error', reject).end(body);
  });
}

/**
 * Writes a request to a socket in Latin-1: request line and headers, an empty line, and the body. Returns the response once the
 * service has closed the connection. @throws when there is no response
 */
export function sendBytes(url: string, lines: readonly string[], body = ''): Promise<Response> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const received: string[] = [];
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => received.push(chunk));
    socket.on('error', reject).on('close', () => {
      const response = parseResponse(received.join(''));
      if (response) resolve(response);
      else reject(new Error('The service closed the connection without a response.'));
    });
  });
}

/** The request line, `Host`, and `Connection: close`. */
export function requestHead(url: string, method: string, path: string): string[] {
  return [`${method} ${path} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: close'];
}

/** Parses the only response on a connection. Returns null if it is not one. */
export function parseResponse(received: string): Response | null {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return new Response(rest.join('\r\n\r\n') || null, { status: Number(status), headers });
}
